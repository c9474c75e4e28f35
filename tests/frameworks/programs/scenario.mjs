/**
 * What the programs of the scenarios on Node have in common, as `scenario.py` has for Python.
 *
 * A program is run as `node PROGRAM.mjs INSTRUMENTATION SCENARIO…`, with MODEL_SERVER and the usual
 * OTEL_… variables. Each scenario runs in a process of its own. Spans are exported one by one as
 * they end; where the process is about to be killed, those that have ended are sent first.
 */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename } from "node:path";

import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { z } from "zod";

export const AGENT = "travel_agent";
export const HELPER = "weather_helper";
export const HELPER_KNOWS = "Knows the weather.";
export const PROMPT = "You help travellers.";
export const API_KEY = "not-a-key"; // the fake model asks for none, its clients do
const [, path, instrumentation, ...names] = process.argv;
export const INSTRUMENTATION = instrumentation;
const PROGRAM = basename(path, ".mjs");
const SCENARIOS = JSON.parse(readFileSync(new URL("../scenarios.json", import.meta.url)));
const failed = new Set();
let exported = async () => {};

function findTrain({ city }) {
  if (city === "Lyon" && !failed.has(city)) {
    failed.add(city);
    throw new Error("the timetable is down");
  }
  return `9:40 to ${city}`;
}

function readGuide({ name }) {
  const pages = name === "thick" ? 400 : 0;
  return Array.from({ length: pages }, (_, page) => `Page ${page + 1} of the guide.`).join("\n");
}

async function leaveEarth() {
  await exported();
  process.reallyExit(0); // the process is gone at once, whatever is still under way
}

function tool(name, description, parameters, run) {
  return { name, description, parameters: z.object(parameters), run };
}

const city = z.string().describe("Which one.");
const step = z.object({ step: z.string(), status: z.string() });

export const TOOLS = [
  tool("get_weather", "Tell the weather of a city.", { city }, ({ city }) => `22C in ${city}`),
  tool("find_train", "Find the next train to a city.", { city }, findTrain),
  tool("read_guide", "Read a travel guide.", { name: z.string() }, readGuide),
  tool("update_plan", "Write down the plan.", { plan: z.array(step) }, ({ plan }) => `${plan.length} steps`),
  tool("leave_earth", "Go where no traveller has been.", { place: z.string() }, leaveEarth),
];

/** Return the tool by which an agent asks its helper. */
export function helperTool(ask) {
  return tool(HELPER, HELPER_KNOWS, { task: z.string() }, ({ task }, context) => ask(task, context));
}

/** Go on with each scenario in a process of its own, and return it. */
export function begin() {
  if (names.length === 1) {
    return SCENARIOS.find((scenario) => scenario.name === names[0]);
  }
  const ends = names.map((name) => {
    const command = [...process.execArgv, path, INSTRUMENTATION, name];
    return spawnSync(process.execPath, command, { stdio: "inherit" }).status;
  });
  process.exit(ends.some((status) => status !== 0) ? 1 : 0);
}

/** Return what tells of which run the spans are. */
export function resource(scenario) {
  return { "service.name": `${PROGRAM}_${INSTRUMENTATION}`, scenario: scenario.name };
}

/** Export spans one by one as they end; `Processor` may be an instrumentation's own. */
export function exportSpans(scenario, Processor) {
  const exporter = new OTLPTraceExporter();
  const processor = Processor ? new Processor({ exporter }) : new SimpleSpanProcessor(exporter);
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes(resource(scenario)),
    spanProcessors: [processor],
  });
  provider.register();
  sendBeforeTheEnd(() => provider.forceFlush());
  return provider;
}

/** Say how spans that have ended are sent before the process is killed. */
export function sendBeforeTheEnd(send) {
  exported = send;
}

/** Return the address of the model that an agent of the scenario talks to. */
export function modelUrl(scenario, agent) {
  const run = `${PROGRAM}_${INSTRUMENTATION}`;
  return `${process.env.MODEL_SERVER}/${run}/${scenario.name}/${agent}/calls/v1`;
}

/** Return a message of the user, in parts if it has several. */
export function message(asked) {
  if (typeof asked === "string") {
    return { role: "user", content: asked };
  }
  return { role: "user", content: asked.map((text) => ({ type: "text", text })) };
}
