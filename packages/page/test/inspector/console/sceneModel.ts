import { policyModel } from '../../../../models/src/policyModel.ts'
import type { Model } from '../../../../../src/protocol/ports/model.ts'
import { textOf } from '../../../../../src/protocol/messages.ts'
import type { ReplyShape } from '../../../../models/src/replyShape.ts'

/** How fast the agents of the scene are. */
export interface Pace {
  /** Milliseconds between the words of a reply. */
  readonly wordMs: number
  /** How long a piece of work takes that is seen running. Rejects when it is aborted. */
  readonly work: (signal: AbortSignal) => Promise<void>
}

/** Work that is never done: what a test sees stays as it is. */
export const held: Pace = {
  wordMs: 0,
  work: (signal) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })),
}

/** Price of every model of the scene, in dollars per million tokens. */
export const pricing = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } as const

/** Facts that a model of the scene decides by. */
export interface Turn {
  /** The newest prompt or task. */
  readonly task: string
  /** How many results there are since it. */
  readonly done: number
  /** Which turn of the agent it is, from 0. */
  readonly turnIndex: number
  /** All of the conversation as text. */
  readonly all: string
}

/** A model that replies by what it was asked and how far it is, in words that come one by one. */
export const paced = (pace: Pace, decide: (turn: Turn) => ReplyShape): Model =>
  policyModel(
    ({ messages }, { turnIndex }) => {
      const asked = messages.findLastIndex(({ role }) => role === 'user')
      return decide({
        turnIndex,
        task: asked < 0 ? '' : textOf(messages[asked]!.content),
        done: messages.slice(asked + 1).filter(({ role }) => role === 'toolResult').length,
        all: messages.map(({ content }) => JSON.stringify(content)).join('\n'),
      })
    },
    { wordDelayMs: pace.wordMs },
  )

/** A reply with calls. */
export const calls = (
  text: string,
  ...toolCalls: readonly { readonly name: string; readonly input: object }[]
): ReplyShape => ({ text, toolCalls })
