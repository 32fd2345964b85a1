import { z } from 'zod'
import { defineAgent, defineTool, policyModel, type AgentDefinition } from '../../../src/index.ts'

const note = defineTool({
  name: 'note',
  description: 'Notes a number.',
  input: z.object({ n: z.number() }),
  effects: 'idempotent',
  run: ({ n }) => `noted ${n}: ${'x'.repeat(200)}`,
})

const send = defineTool({
  name: 'send',
  description: 'Sends a number.',
  input: z.object({ n: z.number() }),
  effects: 'irreversible',
  run: ({ n }) => `sent ${n}: ${'x'.repeat(200)}`,
})

/** A prompt is two turns: two tools, then an answer. Its model answers at once. */
export const benchAgent: AgentDefinition = defineAgent({
  name: 'bench',
  model: policyModel(({ messages }) =>
    messages.at(-1)?.role === 'toolResult'
      ? 'x'.repeat(200)
      : {
          toolCalls: [
            { name: 'note', input: { n: 1 } },
            { name: 'send', input: { n: 2 } },
          ],
        },
  ),
  tools: [note, send],
})

/** Turns of a prompt. */
export const turnsOfPrompt = 2

/** Does something for every agent, so many at once. */
export async function forAll(
  ids: readonly string[],
  atOnce: number,
  work: (id: string) => Promise<unknown>,
): Promise<void> {
  const left = ids.values()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const id of left) await work(id)
    }),
  )
}
