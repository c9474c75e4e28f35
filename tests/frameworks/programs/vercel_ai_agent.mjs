/** The scenarios on Vercel's AI SDK, version 6 and 7. */

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { stepCountIs, tool, ToolLoopAgent } from "ai";

import {
  AGENT,
  API_KEY,
  begin,
  exportSpans,
  HELPER,
  helperTool,
  INSTRUMENTATION,
  message,
  modelUrl,
  PROMPT,
  TOOLS,
} from "./scenario.mjs";

/** Return an agent of the scenario, with its helper as a tool if it has one. */
function agent(scenario, name) {
  const baseURL = modelUrl(scenario, name);
  const provider = createOpenAICompatible({ name: "fake", baseURL, apiKey: API_KEY, includeUsage: true });
  const tools = [...TOOLS];
  if (name === AGENT && HELPER in scenario.scripts) {
    const helper = agent(scenario, HELPER);
    tools.push(helperTool(async (task) => (await helper.generate({ prompt: task })).text));
  }
  return new ToolLoopAgent({
    id: name,
    model: provider("fake-model"),
    instructions: PROMPT,
    tools: Object.fromEntries(tools.map((each) => [each.name, offered(each)])),
    stopWhen: stepCountIs(10),
    experimental_telemetry: { isEnabled: true, functionId: name },
  });
}

function offered({ description, parameters, run }) {
  return tool({ description, inputSchema: parameters, execute: run });
}

/** Turn the telemetry of version 7 on; that of version 6 is part of each agent. */
async function register() {
  if (INSTRUMENTATION.startsWith("v6")) {
    return;
  }
  const { registerTelemetry } = await import("ai");
  const { LegacyOpenTelemetry, OpenTelemetry } = await import("@ai-sdk/otel");
  // What OpenInference's processor reads besides.
  const more = { usage: true, providerMetadata: true, runtimeContext: true, toolChoice: true, schema: true };
  const telemetry = {
    legacy: () => new LegacyOpenTelemetry(),
    otel: () => new OpenTelemetry(),
    openinference: () => new OpenTelemetry(more),
  };
  registerTelemetry(telemetry[INSTRUMENTATION]());
}

async function answer(asked, messages, stream) {
  if (!stream) {
    return asked.generate({ messages });
  }
  const result = await asked.stream({ messages });
  await result.consumeStream();
  return { text: await result.text, response: await result.response };
}

const scenario = begin();
const openinference = INSTRUMENTATION.endsWith("openinference");
const provider = exportSpans(
  scenario,
  openinference && (await import("@arizeai/openinference-vercel")).OpenInferenceSimpleSpanProcessor,
);
await register();
const asked = agent(scenario, AGENT);
const messages = [];
for (const ask of scenario.asks) {
  messages.push(message(ask));
  const { text, response } = await answer(asked, messages, scenario.stream);
  console.log(text);
  messages.push(...response.messages);
}
await provider.shutdown();
