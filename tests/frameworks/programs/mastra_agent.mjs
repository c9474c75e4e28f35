/** The scenarios on Mastra, exported by its own exporter, or by that for OpenInference. */

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ArizeExporter } from "@mastra/arize";
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { createTool } from "@mastra/core/tools";
import { Observability } from "@mastra/observability";
import { OtelExporter } from "@mastra/otel-exporter";

import {
  AGENT,
  API_KEY,
  begin,
  HELPER,
  INSTRUMENTATION,
  helperTool,
  message,
  modelUrl,
  PROMPT,
  resource,
  sendBeforeTheEnd,
  TOOLS,
} from "./scenario.mjs";

/** Return an agent of the scenario, with its helper as a tool if it has one. */
function agent(scenario, name) {
  const baseURL = modelUrl(scenario, name);
  const provider = createOpenAICompatible({ name: "fake", baseURL, apiKey: API_KEY, includeUsage: true });
  const tools = [...TOOLS];
  if (name === AGENT && HELPER in scenario.scripts) {
    const helper = agent(scenario, HELPER);
    tools.push(
      helperTool(async (task, { tracingContext }) => (await helper.generate(task, { tracingContext })).text),
    );
  }
  return new Agent({
    id: name,
    name,
    instructions: PROMPT,
    model: provider("fake-model"),
    tools: Object.fromEntries(tools.map((each) => [each.name, offered(each)])),
  });
}

function offered({ name, description, parameters, run }) {
  return createTool({ id: name, description, inputSchema: parameters, execute: run });
}

/** Return Mastra, which exports what its agents do. */
function mastra(scenario, agents) {
  const url = `${process.env.OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces`;
  const { "service.name": serviceName, ...resourceAttributes } = resource(scenario);
  const exporters = {
    otel: () => new OtelExporter({ provider: { custom: { endpoint: url } }, resourceAttributes }),
    openinference: () => new ArizeExporter({ endpoint: url, resourceAttributes }),
  };
  const configs = { scenarios: { serviceName, exporters: [exporters[INSTRUMENTATION]()] } };
  return new Mastra({ agents, observability: new Observability({ configs }), logger: false });
}

async function answer(asked, messages, stream) {
  const options = { maxSteps: 10 };
  if (!stream) {
    return asked.generate(messages, options);
  }
  return (await asked.stream(messages, options)).getFullOutput();
}

const scenario = begin();
const made = mastra(scenario, { [AGENT]: agent(scenario, AGENT) });
sendBeforeTheEnd(() => made.observability.getDefaultInstance().flush());
const asked = made.getAgent(AGENT);
const messages = [];
for (const ask of scenario.asks) {
  messages.push(message(ask));
  const { text, response } = await answer(asked, messages, scenario.stream);
  console.log(text);
  messages.push(...response.messages);
}
await made.shutdown();
