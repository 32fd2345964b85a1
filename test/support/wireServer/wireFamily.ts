import type { AiSdkModel } from '../../../src/aiSdk.ts'

/** One block of a reply; a list of texts is sent as that many deltas. */
export type WireBlock =
  | { readonly text: readonly string[] }
  | { readonly thinking: readonly string[]; readonly signature?: string }
  | { readonly redacted: string }
  | {
      readonly call: string
      readonly name: string
      readonly input: readonly string[]
      readonly thoughtSignature?: string
    }

/** A reply, said without the words of any provider. */
export interface WireReply {
  readonly blocks: readonly WireBlock[]
  /** How the provider says that the reply ended, in its own word. */
  readonly stop: string
  readonly usage?: WireUsage
}

/** `input` includes what was read from or written to the cache. */
export interface WireUsage {
  readonly input: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
  readonly output: number
  readonly reasoning?: number
}

/** A provider's wire format, and the real provider package that speaks it. */
export interface WireFamily {
  readonly name: string
  /** The family's words for the ways a reply ends. */
  readonly stops: { readonly stop: string; readonly length: string; readonly toolUse: string; readonly refusal: string }
  model(url: string): AiSdkModel
  /** The server-sent events of a reply, one text each, without the ones that end it. */
  open(reply: WireReply): readonly string[]
  /** The server-sent events that end a reply. */
  finish(reply: WireReply): readonly string[]
  /** The body of an error response. */
  error(type: string, message: string): unknown
  /** An error inside a stream. */
  streamError(type: string, message: string): string
}

/** A usage where the test does not care. */
export const someUsage: WireUsage = { input: 1, output: 1 }

/** The key every test sends; it must never show up in a message. */
export const fakeKey = 'sk-test-0123456789abcdef'
