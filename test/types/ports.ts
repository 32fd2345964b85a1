import type {
  Block,
  JsonSchema,
  LogRecord,
  Model,
  ModelPart,
  ModelRequest,
  ModelSettings,
  RequestMessage,
  Store,
  Usage,
} from '../../src/index.ts'
import type { CheckpointStore, SnapshotStore, StoreLease, TimerIndex } from '../../src/stores.ts'
import { policyModel } from '../../src/index.ts'
import type { LogPage, LogQuery, SearchHit, SearchQuery } from '../../src/stores.ts'
import { scriptedModel } from '../../src/testing.ts'
import { type Equal, expectType } from './typeEquality.ts'

/** A type all through without `readonly`, functions aside. */
type Plain<T> = T extends (...parameters: never[]) => unknown
  ? T
  : T extends readonly (infer Item)[]
    ? Plain<Item>[]
    : T extends object
      ? { -readonly [K in keyof T]: Plain<T[K]> }
      : T

/** The ports as the design lists them, part by part; only `readonly` may differ. */
type Same<A, B> = Equal<Plain<A>, Plain<B>>

type TheBlock =
  | { type: 'text'; text: string }
  | { type: 'image'; data: string; mimeType: string }
  | { type: 'image'; url: string; mimeType?: string }
  | { type: 'file'; data: string; mimeType: string; name?: string }
  | { type: 'thinking'; text: string; signature?: string }
  | { type: 'toolCall'; callId: string; name: string; input: unknown; via?: 'call_tool' }
  | {
      type: 'provider'
      provider: string
      kind: 'call' | 'result' | 'source' | 'file' | 'other'
      name: string
      data: unknown
    }
expectType<Same<Block, TheBlock>>()
expectType<Same<Block['type'], TheBlock['type']>>()

type TheMessage =
  | { role: 'user'; content: readonly Block[] }
  | { role: 'assistant'; content: readonly Block[] }
  | { role: 'toolResult'; callId: string; toolName: string; content: readonly Block[]; isError: boolean }
expectType<Same<RequestMessage, TheMessage>>()

interface TheRequest {
  system: string
  messages: readonly RequestMessage[]
  tools: readonly {
    name: string
    description: string
    inputSchema: JsonSchema
    provider?: { id: string; args: { [name: string]: unknown } }
    strict?: boolean
    inputExamples?: readonly unknown[]
    providerOptions?: { [provider: string]: unknown }
  }[]
  settings: ModelSettings
}
expectType<Same<ModelRequest, TheRequest>>()

type TheUsage = {
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
  reasoning?: number
  estimated?: true
}
expectType<Same<Usage, TheUsage>>()

type TheKind = 'rateLimited' | 'network' | 'auth' | 'overflow' | 'badRequest' | 'other'
type TheError = { kind: TheKind; message: string; retryAfterMs?: number; usage?: Usage }
type ThePart =
  | { type: 'text.delta' | 'thinking.delta'; text: string }
  | { type: 'toolCall.delta'; callId: string; name?: string; text: string }
  | { type: 'warning'; message: string }
  | {
      type: 'done'
      reply: {
        content: readonly Block[]
        stopReason: 'stop' | 'length' | 'toolUse' | 'refusal' | 'other'
        endReason?: string
        usage: Usage
        responseModel?: string
      }
    }
  | { type: 'model'; model: string; after?: TheError }
  | { type: 'error'; error: TheError }
expectType<Same<ModelPart, ThePart>>()
expectType<Same<Extract<ModelPart, { type: 'error' }>['error']['kind'], TheKind>>()

interface TheModel {
  readonly id: string
  stream(request: ModelRequest, options: { signal: AbortSignal }): AsyncIterable<ModelPart>
}
expectType<Same<Model, TheModel>>()
expectType<Equal<Parameters<Model['stream']>, [ModelRequest, { signal: AbortSignal }]>>()

interface TheStore {
  append(agentId: string, records: readonly LogRecord[], epoch?: number): Promise<void>
  read(agentId: string, fromSeq?: number, limit?: number): AsyncIterable<LogRecord>
  list(): Promise<readonly string[]>
  stat?(agentId: string): Promise<{ readonly size: number; readonly writtenAt: number } | undefined>
  page?(query?: LogQuery): Promise<LogPage>
  search?(query: SearchQuery): Promise<readonly SearchHit[]>
  open(agentId: string, options?: { readonly takeOver?: boolean | undefined }): Promise<StoreLease>
  announce?(url: string | undefined): Promise<void>
  workers?(): Promise<readonly { readonly url: string; readonly words: string }[]>
  holds?(agentId?: string, epoch?: number): boolean
  figures?(): { readonly leaseAgeMs?: number; readonly appends?: number; readonly queue?: number }
  holder?(
    agentId: string,
  ): Promise<
    { readonly url?: string; readonly epoch?: number; readonly isHere: boolean; readonly words: string } | undefined
  >
  readonly snapshots?: SnapshotStore
  readonly checkpoints?: CheckpointStore
  readonly timers?: TimerIndex
  close(): Promise<void>
}
expectType<Same<Store, TheStore>>()
expectType<Equal<Parameters<Store['append']>, [string, readonly LogRecord[], (number | undefined)?]>>()
expectType<Equal<Parameters<Store['read']>[1], number | undefined>>()

// A policy is a plain function, sync or not, to a string or a short reply.
policyModel(() => 'hello')
policyModel(async (request, { turnIndex }) => `${request.messages.length} ${turnIndex.toFixed()}`)
policyModel(() => ({ text: 'a', thinking: 'b', toolCalls: [{ name: 'c', input: {} }] }))
// @ts-expect-error a call needs its input
policyModel(() => ({ toolCalls: [{ name: 'c' }] }))
// @ts-expect-error a reply is no number
policyModel(() => 5)

const scripted = scriptedModel(['hello', { text: 'x' }])
expectType<Equal<typeof scripted.requests, readonly ModelRequest[]>>()
expectType<Equal<ReturnType<typeof scripted.assertComplete>, void>>()

// What a port does not promise, its user may not use.
const model = policyModel(() => 'x')
// @ts-expect-error the id is read only
model.id = 'y'
// @ts-expect-error a model cannot be asked without a signal
model.stream({ system: '', messages: [], tools: [], settings: {} }, {})
// @ts-expect-error a role that no provider knows
export const wrongRole: RequestMessage = { role: 'system', content: [] }
// @ts-expect-error a result says whether it is an error
export const wrongResult: RequestMessage = { role: 'toolResult', callId: 'a', toolName: 'b', content: [] }
// @ts-expect-error the input of a call is not left out
export const wrongBlock: Block = { type: 'toolCall', callId: 'a', name: 'b' }
// @ts-expect-error a missing signature is left out, not undefined
export const wrongThinking: Block = { type: 'thinking', text: 'a', signature: undefined }
