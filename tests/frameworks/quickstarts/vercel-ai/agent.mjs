import { openai } from "@ai-sdk/openai";
import { OpenTelemetry } from "@ai-sdk/otel";
import { NodeSDK } from "@opentelemetry/sdk-node";
import { registerTelemetry, tool, ToolLoopAgent } from "ai";
import { z } from "zod";

const sdk = new NodeSDK();
sdk.start();
registerTelemetry(new OpenTelemetry());

const tools = {
  order_status: tool({
    description: "Say where an order is.",
    inputSchema: z.object({ order: z.string() }),
    execute: ({ order }) => {
      if (order !== "A-1001") throw new Error(`no order ${order}`);
      return "shipped on 3 May";
    },
  }),
};
const telemetry = { functionId: "support" };
const agent = new ToolLoopAgent({ model: openai("gpt-5-mini"), tools, telemetry });
const { text } = await agent.generate({ prompt: process.argv[2] });
console.log(text);
await sdk.shutdown();
