import type { AgentDefinition } from '../../../../../src/actors/define/agentDefinition.ts'
import { defineAgent } from '../../../../define/src/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { pause } from '../../../../../src/protocol/ports/pause.ts'
import type { Clock } from '../../../../../src/protocol/ports/clock.ts'
import { textOf } from '../../../../../src/protocol/messages.ts'
import { tool } from '../../../../../test/support/agentHarness.ts'

const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 }

/** How many turns a prompt asks for: "prompt 7, 20 turns" is 20 of them. */
const turnsIn = /(\d+) turns/
/** How long each look takes, where the prompt says so: "20 turns of 15 ms". */
const lookMsIn = /turns of (\d+) ms/

/**
 * An agent named `looking` that looks as many times as its newest prompt says, a turn each, and then says how often it did. Words
 * take up to so many milliseconds, and so do looks unless the prompt says how long they are.
 */
export const lookingAgent = (clock: Clock, maxMs: number): AgentDefinition =>
  defineAgent({
    name: 'looking',
    maxQueue: 3,
    braking: { revert: true },
    model: policyModel(
      ({ messages }) => {
        const asked = messages.findLastIndex(({ role, content }) => role === 'user' && turnsIn.test(textOf(content)))
        const prompt = textOf(messages[asked]?.content ?? [])
        const wanted = Number(turnsIn.exec(prompt)?.[1] ?? 1)
        const lookMs = lookMsIn.exec(prompt)?.[1]
        const done = messages.slice(asked + 1).filter(({ role }) => role === 'toolResult').length
        if (done + 1 >= wanted) return { text: `Looked ${done} times.`, usage }
        const input = { done, ...(lookMs === undefined ? {} : { lookMs: Number(lookMs) }) }
        return { text: `Look ${done} at it`, toolCalls: [{ name: 'look', input }], usage }
      },
      { clock, wordDelayMs: maxMs },
    ),
    tools: [
      tool(
        'look',
        async (input, { signal }) => {
          const { lookMs = maxMs } = input as { lookMs?: number }
          if (lookMs > 0) await pause(lookMs, clock, signal)
          return `seen ${JSON.stringify(input)}`
        },
        { effects: 'none' },
      ),
    ],
    limits: { turns: 100_000 },
  })
