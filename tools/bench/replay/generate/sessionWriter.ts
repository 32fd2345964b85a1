import type { Block } from '../../../../src/index.ts'
import { SessionDraft } from '../readers/sessionDraft.ts'
import { text } from '../readers/shapes.ts'
import type { RecordedSession } from '../recordedSession.ts'
import { frameOf } from './frame.ts'
import type { Kind } from './kinds.ts'
import { proseOf, sizeFrom } from './codebase.ts'
import type { Random } from './random.ts'

export type Call = readonly [name: string, input: object, output: string, isError?: boolean]

/** Tools of servers that a session uses, however many there are. */
const serversUsed = 5

/** A cache of five minutes has gone after a long pause, and never after a short one. */
const fiveMinutes = 300_000
const secondsAtPrompt = { median: 45, spread: 1 }
const secondsOfStep = { median: 9, spread: 0.9 }
const secondsOfPause = { median: 1_100, spread: 1.2 }

/** Writes a session reply by reply, with the time that passes. */
export class SessionWriter {
  readonly random: Random
  readonly #kind: Kind
  readonly #draft = new SessionDraft('generated')
  #time = 0
  #calls = 0
  /** Tools of servers that this session uses. */
  readonly servers: readonly string[]
  /** Replies so far. */
  made = 0

  constructor(random: Random, kind: Kind, own: Parameters<typeof frameOf>[2]) {
    this.random = random
    this.#kind = kind
    const { system, tools } = frameOf(random, random.between(...kind.frame), own)
    this.#draft.at(0)
    this.#draft.system(system)
    for (const spec of tools) this.#draft.tool(spec)
    const others = tools.map(({ name }) => name).filter((name) => own.every((spec) => spec.name !== name))
    this.servers = Array.from({ length: Math.min(serversUsed, others.length) }, () => random.pick(others))
  }

  finish(name: string): RecordedSession {
    return this.#draft.finish(name)
  }

  /** A person's prompt, after a while. */
  prompt(words: string): void {
    if (this.made > 0) this.#pass(this.#kind.pauses.atPrompts, secondsAtPrompt)
    this.#draft.user([text(words)])
  }

  /** A person speaks while calls run. */
  steer(words: string): void {
    this.#draft.user([text(words)])
  }

  /** A reply without calls, which ends a run. */
  answer(words: string): void {
    this.#reply([text(words)])
  }

  step(said: string, ...calls: readonly Call[]): void {
    const ids = calls.map(() => `call-${(this.#calls += 1)}`)
    const words = proseOf(this.random, sizeFrom(this.random, this.#kind.words))
    this.#reply([
      text(`${said} ${words}`.trim()),
      ...calls.map(([name, input], index): Block => ({ type: 'toolCall', callId: ids[index]!, name, input })),
    ])
    this.#pass(this.#kind.pauses.betweenCalls, secondsOfStep)
    for (const [index, [, , output, isError = false]] of calls.entries())
      this.#draft.result(ids[index]!, [text(output)], isError)
  }

  #reply(content: readonly Block[]): void {
    this.made += 1
    this.#draft.reply(content)
  }

  #pass(pauses: number, seconds: { readonly median: number; readonly spread: number }): void {
    const { random } = this
    const soon = Math.min(fiveMinutes - 1_000, 1_000 * random.logNormal(seconds.median, seconds.spread))
    const late = fiveMinutes + 1_000 * random.logNormal(secondsOfPause.median, secondsOfPause.spread)
    this.#time += Math.round(random.chance(pauses) ? late : soon)
    this.#draft.at(this.#time)
  }
}
