import { appendFileSync } from 'node:fs'
import { z } from 'zod'
import type { AgentDefinition } from '../../../../../src/actors/define/agentDefinition.ts'
import { defineAgent } from '../../../../define/src/defineAgent.ts'
import { heuristicStrategy } from '../../../../../src/actors/brakes/compaction/summariseSpan.ts'
import { defineTool, type Tool, type ToolEffects } from '../../../../../src/actors/tools/defineTool.ts'
import { noUsage, textOf, type Block } from '../../../../../src/protocol/messages.ts'
import type { Model, ModelPart, ModelRequest, ReplyStopReason } from '../../../../../src/protocol/ports/model.ts'

/** Where a worker may be when it dies. */
export const places = ['reply', 'record', 'tool', 'child', 'drain', 'approval'] as const
export type Place = (typeof places)[number]

/** Called at every such place; an armed one does not return until the signal is aborted. */
export type Reach = (place: Place, agentId: string, signal: AbortSignal) => Promise<void>

/** An effect on the world, noted in a file: what it was, and when in epoch milliseconds. */
export interface Effect {
  readonly key: string
  readonly tool: string
  readonly at: number
}

/**
 * An agent that does what its prompt lists (`look,pay,helper`), one call a turn, and then answers `done`. It decides by the conversation
 * alone, so that every process that goes on with it decides alike. `code`: its definition says other things, and does the same.
 */
export function jobOf(effectsFile: string, reach: Reach, code?: 'other'): AgentDefinition {
  const tool = (name: string, effects: ToolEffects, place: Place, isBefore: boolean, needsApproval = false): Tool =>
    defineTool({
      name,
      description: code === undefined ? `The tool ${name}.` : `What ${name} does.`,
      input: z.looseObject({}),
      effects,
      needsApproval,
      async run(_, { key, agent, signal }) {
        if (isBefore) await reach(place, agent.id, signal)
        const effect: Effect = { key, tool: name, at: Date.now() }
        appendFileSync(effectsFile, `${JSON.stringify(effect)}\n`)
        if (!isBefore) await reach(place, agent.id, signal)
        return `${name} is done`
      },
    })
  const helper = defineAgent({
    name: 'helper',
    model: listModel('dig', reach),
    tools: [tool('dig', 'idempotent', 'child', false)],
  })
  return defineAgent({
    name: 'job',
    model: listModel(undefined, reach),
    ...(code === undefined ? {} : { instructions: 'Do it in another way.' }),
    tools: [
      ...(code === undefined ? [] : [tool('polish', 'none', 'tool', false)]),
      tool('look', 'idempotent', 'tool', false),
      tool('pay', 'irreversible', 'record', true),
      tool('publish', 'irreversible', 'approval', true, true),
    ],
    agents: [helper],
    compaction: {
      contextWindow: 100_000,
      keepFirst: 0,
      keepRecent: 1,
      minShrink: 0,
      strategy: {
        name: 'slow',
        async summarise(span, context) {
          await reach('drain', '', context.signal)
          return await heuristicStrategy.summarise(span, context)
        },
      },
    },
  })
}

/** Reads the list in the last message of a person, and how much of it was done since. */
function progress({ messages }: ModelRequest): { readonly list: readonly string[]; readonly done: number } {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const [list = ''] = textOf(messages[last]?.content ?? []).split('\n')
  const done = messages.slice(last).filter(({ role }) => role === 'toolResult').length
  return { list: list === '' ? [] : list.split(','), done }
}

/** `only`: what it does whatever it is told. */
function listModel(only: string | undefined, reach: Reach): Model {
  return {
    id: 'job:list',
    async *stream(request, { signal }): AsyncGenerator<ModelPart> {
      const { list, done } = progress(request)
      const name = (only === undefined ? list : [only])[done]
      if (name === undefined) {
        yield { type: 'text.delta', text: 'do' }
        if (only === undefined) await reach('reply', '', signal)
        yield reply([{ type: 'text', text: 'done' }], 'stop')
      } else {
        const callId = `c${request.messages.length}`
        yield reply([{ type: 'toolCall', callId, name, input: name === 'helper' ? { task: 'dig' } : {} }], 'toolUse')
      }
    },
  }
}

const reply = (content: readonly Block[], stopReason: ReplyStopReason): ModelPart => ({
  type: 'done',
  reply: { content, stopReason, usage: noUsage },
})
