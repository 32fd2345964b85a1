import { type Block, type Usage, blockSchema } from '../messages.ts'
import { z } from 'zod'
import { lazily } from '../lazily.ts'
import type { ToolChoice } from '../bridge/turns.ts'

/** A JSON Schema object, in the form that providers take for tool input and structured output. */
export type JsonSchema = { readonly [key: string]: unknown }

/** Effort of the model's thinking. A provider without this setting ignores it. */
export type ThinkingLevel = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh'

/**
 * Setting for the provider's cache of the beginning of requests. `ttl` is the time that a beginning is kept without another request. With `'auto'`,
 * the default, that is 5 minutes; for parts that outlast a turn it is an hour, once requests often come later than that.
 */
export type PromptCache = false | { readonly ttl?: '5m' | '1h' | 'auto' }

/** Settings of a model call. An omitted setting leaves the provider's default. */
export interface ModelSettings {
  /** The maximum number of tokens in one reply. */
  readonly maxTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly stopSequences?: readonly string[]
  readonly seed?: number
  readonly thinkingLevel?: ThinkingLevel
  /** The tool that the model is to call. A required tool is called in every turn, so give it in `beforeTurn`, or set limits. */
  readonly toolChoice?: ToolChoice
  /** Format of the reply, set by an agent's `output`: JSON that matches the schema. */
  readonly responseFormat?: {
    readonly type: 'json'
    readonly schema: JsonSchema
    readonly name?: string
    /** `false` if the schema contains something that strict providers refuse, such as arbitrary field names. */
    readonly strict?: boolean
  }
  /** Value of an agent's `cache` option. */
  readonly cache?: PromptCache
  /** Options that are passed through to the provider unchanged, by provider name. */
  readonly providerOptions?: { readonly [provider: string]: { readonly [key: string]: unknown } }
}

/** Description of a tool for a model. */
export interface ToolSpec {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
  /** One of the provider's own tools, with its id and settings. Other providers cannot offer it. */
  readonly provider?: { readonly id: string; readonly args: { readonly [name: string]: unknown } }
  /** True to let the provider enforce the schema, if it can. */
  readonly strict?: boolean
  readonly inputExamples?: readonly unknown[]
  /** Settings of providers for this tool, by provider. */
  readonly providerOptions?: { readonly [provider: string]: unknown }
}

export type RequestMessage =
  | { readonly role: 'user'; readonly content: readonly Block[] }
  | { readonly role: 'assistant'; readonly content: readonly Block[] }
  | {
      readonly role: 'toolResult'
      readonly callId: string
      readonly toolName: string
      readonly content: readonly Block[]
      readonly isError: boolean
    }

export interface ModelRequest {
  readonly system: string
  readonly messages: readonly RequestMessage[]
  readonly tools: readonly ToolSpec[]
  readonly settings: ModelSettings
}

export type ReplyStopReason = 'stop' | 'length' | 'toolUse' | 'refusal'

export interface ModelReply {
  readonly content: readonly Block[]
  /** Reason for the end of the reply. `other`: no other value describes it. That is a failure unless `endReason` is a known end. */
  readonly stopReason: ReplyStopReason | 'other'
  /** The provider's own term for the end of the reply. It takes precedence if it is worse than `stopReason`. */
  readonly endReason?: string
  readonly usage: Usage
  /** Id of the model that answered, as reported by the provider and without its name, if it differs from the requested one. */
  readonly responseModel?: string
}

/** Kind of failure. `rateLimited`, `network` and `other` are retried. `overflow` leads to a compaction and one retry. The others end the run. */
export type ModelErrorKind = 'rateLimited' | 'network' | 'auth' | 'overflow' | 'badRequest' | 'other'

export interface ModelError {
  readonly kind: ModelErrorKind
  readonly message: string
  /** Wait requested by the provider, in milliseconds. */
  readonly retryAfterMs?: number
  /** Usage of the failed call, if the provider reports it. */
  readonly usage?: Usage
}

/**
 * A part of a model's stream. `done` and `error` are terminal: exactly one of them comes, as the last part. A `warning` names an omitted part of the
 * request or reply. `model` comes from a model that stands for others: the parts after it are from the model with this id. With `after`, the previous
 * model failed with that error, and the parts of its reply are discarded.
 */
export type ModelPart =
  | { readonly type: 'text.delta' | 'thinking.delta'; readonly text: string }
  | { readonly type: 'toolCall.delta'; readonly callId: string; readonly name?: string; readonly text: string }
  | { readonly type: 'warning'; readonly message: string }
  | { readonly type: 'model'; readonly model: string; readonly after?: ModelError }
  | { readonly type: 'done'; readonly reply: ModelReply }
  | { readonly type: 'error'; readonly error: ModelError }

/**
 * The model port. Contract: `stream` yields deltas and warnings as they arrive, then one terminal part. It may throw
 * instead of yielding `error`, which is read as kind `other`. Once `signal` is aborted, nothing that it yields is used.
 */
export interface Model {
  /** Id in the form `provider:model`, for logs, events and prices. */
  readonly id: string
  stream(request: ModelRequest, options: { signal: AbortSignal }): AsyncIterable<ModelPart>
}

/** Checks a value and returns it unchanged, with its fields in their original order, so that the sent bytes are kept. */
const asItIs = <T>(schema: z.ZodType): z.ZodType<T, T> => z.custom<T>((value) => schema.safeParse(value).success)

const content = lazily(() => z.array(blockSchema()))

export const requestMessageSchema = lazily(() =>
  asItIs<RequestMessage>(
    z.discriminatedUnion('role', [
      z.object({ role: z.literal('user'), content: content() }),
      z.object({ role: z.literal('assistant'), content: content() }),
      z.object({
        role: z.literal('toolResult'),
        callId: z.string(),
        toolName: z.string(),
        content: content(),
        isError: z.boolean(),
      }),
    ]),
  ),
)

export const toolSpecSchema = lazily(() =>
  asItIs<ToolSpec>(
    z.object({ name: z.string(), description: z.string(), inputSchema: z.record(z.string(), z.unknown()) }),
  ),
)

/** A model and its settings, without the provider's own options, which may contain secrets. */
export const modelSnapshotSchema = lazily(() =>
  z.object({
    id: z.string(),
    settings: z.record(z.string(), z.unknown()).readonly().exactOptional(),
  }),
)
export type ModelSnapshot = z.infer<ReturnType<typeof modelSnapshotSchema>>

/** A part of requests that a provider refuses. It is left out of all later requests to that model. */
export const refusedPartSchema = lazily(() =>
  z.object({
    part: z.enum(['toolSchema', 'outputSchema', 'cache', 'images', 'files', 'thinking', 'providerCalls']),
    /** Id of the model whose provider refused the part. */
    model: z.string(),
    /** Name of the tool that has the schema. */
    tool: z.string().exactOptional(),
    /** Fingerprint of the refused schema. A changed schema is sent again. */
    print: z.string().exactOptional(),
  }),
)
export type RefusedPart = z.infer<ReturnType<typeof refusedPartSchema>>
