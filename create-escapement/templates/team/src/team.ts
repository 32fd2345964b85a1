import { defineAgent, type AnyModel } from 'escapement'
import { publish, search } from './library.ts'

/** A lead that calls a researcher and a writer. What they use counts towards its limits, and an abort reaches all of them. */
export function lead(model: AnyModel, folder: string) {
  const researcher = defineAgent({
    name: 'researcher',
    description: 'Finds out what the library says about something.',
    instructions: 'Search, and answer with what you found and nothing else.',
    model,
    tools: [search],
  })
  const writer = defineAgent({
    name: 'writer',
    description: 'Writes an article of the facts in its task, and publishes it.',
    instructions: 'Write a short article of the facts you are given. Publish it once; if that is denied, say so.',
    model,
    tools: [publish(folder)],
  })
  return defineAgent({
    name: 'lead',
    instructions: 'Have the researcher find the facts and the writer publish them. Say what came of it.',
    model,
    agents: [researcher, writer],
    // A limit in dollars, costUsd, needs the prices of the model: pricing.
    limits: { turns: 40, tokens: 500_000 },
  })
}
