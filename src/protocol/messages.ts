import { z } from 'zod'
import { lazily } from './lazily.ts'
import { artifactSchema } from './artifacts/artifact.ts'
import { provenanceKindSchema } from './provenance.ts'
import { callToolName } from './viaCallTool.ts'

/** Casts a schema to the union of its valid forms. Zod infers all fields as optional, and the schema's refinement checks the combinations. */
function asImages<B>(schema: z.ZodType): z.ZodType<B, B> {
  return schema as z.ZodType<B, B>
}

export const textBlockSchema = lazily(() => z.object({ type: z.literal('text'), text: z.string() }))
export type TextBlock = z.infer<ReturnType<typeof textBlockSchema>>

/** An image: base64 without a `data:` prefix, or an address that the model's provider fetches. */
export type ImageBlock =
  | { type: 'image'; data: string; mimeType: string }
  | { type: 'image'; url: string; mimeType?: string }

const imageBlockSchema = lazily(() =>
  z
    .object({
      type: z.literal('image'),
      data: z.string().exactOptional(),
      mimeType: z.string().exactOptional(),
      /** Address in place of `data`: `https:` or `http:`. */
      url: z.string().exactOptional(),
    })
    .refine(
      ({ data, mimeType, url }) =>
        data === undefined ? url !== undefined : url === undefined && mimeType !== undefined,
      {
        error: 'an image has data and a mimeType, or a url',
      },
    ),
)

/** A file, such as a PDF or a recording: base64 without a `data:` prefix. `name` is for the model and for people. */
const fileBlockSchema = lazily(() =>
  z.object({
    type: z.literal('file'),
    data: z.string(),
    mimeType: z.string(),
    name: z.string().exactOptional(),
  }),
)
export type FileBlock = z.infer<ReturnType<typeof fileBlockSchema>>

/** A block that holds bytes or an address. */
export type MediaBlock = ImageBlock | FileBlock

/** Thinking. `signature` is the provider's signature of `text`; both must be sent back unmodified. */
const thinkingBlockSchema = lazily(() =>
  z.object({
    type: z.literal('thinking'),
    text: z.string(),
    signature: z.string().exactOptional(),
  }),
)

/** A call of a tool. `input` has the arguments as parsed JSON, or the raw string if it was not JSON. */
const toolCallBlockSchema = lazily(() =>
  z.object({
    type: z.literal('toolCall'),
    callId: z.string(),
    name: z.string(),
    input: z.unknown(),
    /** Set if the model made the call through `call_tool`. Requests show it in that form. */
    via: z.literal(callToolName).exactOptional(),
  }),
)

/**
 * An action of the provider itself while the model answered, such as a web search. It needs no answer from us. A request to the same `provider` sends
 * it back unchanged. A source stays in the conversation but is never part of a request.
 */
const providerBlockSchema = lazily(() =>
  z.object({
    type: z.literal('provider'),
    provider: z.string(),
    kind: z.enum(['call', 'result', 'source', 'file', 'other']),
    /** Label for people: the tool, the title or address of the source, or the type of the file. */
    name: z.string(),
    /** Plain JSON that only the model adapter understands. */
    data: z.unknown(),
  }),
)

export type Block =
  | TextBlock
  | z.infer<ReturnType<typeof thinkingBlockSchema>>
  | MediaBlock
  | ToolCallBlock
  | ProviderBlock
export const blockSchema = lazily((): z.ZodType<Block, Block> =>
  asImages(
    z.discriminatedUnion('type', [
      textBlockSchema(),
      imageBlockSchema(),
      fileBlockSchema(),
      thinkingBlockSchema(),
      toolCallBlockSchema(),
      providerBlockSchema(),
    ]),
  ),
)
export type ProviderBlock = z.infer<ReturnType<typeof providerBlockSchema>>
export type ToolCallBlock = z.infer<ReturnType<typeof toolCallBlockSchema>>

/** Content from a person or a tool: text, images and files. */
export type PlainBlock = TextBlock | MediaBlock
export const plainBlockSchema = lazily((): z.ZodType<PlainBlock, PlainBlock> =>
  asImages(z.discriminatedUnion('type', [textBlockSchema(), imageBlockSchema(), fileBlockSchema()])),
)

/**
 * Tokens of one or several model calls. Each token counts in one of `input`, `output`, `cacheRead` and `cacheWrite`; `totalTokens` adds them.
 * `input`, `cacheRead` and `cacheWrite` together are the tokens of the request.
 */
export const usageSchema = lazily(() =>
  z.object({
    /** Tokens of the request that were neither read from nor written to the provider's cache. With caching they are a small part. */
    input: z.number(),
    /** Tokens of the reply, including its thinking. */
    output: z.number(),
    /** Tokens of the request that were read from the cache, at a fraction of the price of `input`. */
    cacheRead: z.number(),
    /** Tokens of the request that were written to the cache. Some providers charge more for them than for `input`. */
    cacheWrite: z.number(),
    /** Tokens of `output` that were thinking, if the provider reports them. */
    reasoning: z.number().exactOptional(),
    /** Set if the provider did not report the whole usage, so the token counter's estimate is used. */
    estimated: z.literal(true).exactOptional(),
  }),
)
export type Usage = z.infer<ReturnType<typeof usageSchema>>

/** Origin of a user message. */
export const userSourceSchema = lazily(() => z.enum(['prompt', 'steering', 'followUp']))
export type UserSource = z.infer<ReturnType<typeof userSourceSchema>>

export const userMessageSchema = lazily(() =>
  z.object({
    role: z.literal('user'),
    content: z.array(plainBlockSchema()).readonly(),
    source: userSourceSchema(),
    /** Provenance set by the application, which replaces the derived one in the request. */
    provenance: provenanceKindSchema().exactOptional(),
  }),
)
export type UserMessage = z.infer<ReturnType<typeof userMessageSchema>>

/** A model's reply. `aborted`: an abort cut the reply off, and the part that had arrived is kept. */
export const assistantMessageSchema = lazily(() =>
  z.object({
    role: z.literal('assistant'),
    content: z.array(blockSchema()).readonly(),
    stopReason: z.enum(['stop', 'length', 'toolUse', 'refusal', 'aborted']),
    usage: usageSchema(),
    model: z.string(),
    /** Id of the model that answered, as reported by the provider, if it differs from the requested one. An alias may stand for another model. */
    responseModel: z.string().exactOptional(),
  }),
)
export type AssistantMessage = z.infer<ReturnType<typeof assistantMessageSchema>>

/** Reason why the runtime wrote the result instead of the tool. `answered`: the hook `beforeTool` gave it. */
export const syntheticReasonSchema = lazily(() =>
  z.enum(['aborted', 'skipped', 'denied', 'interrupted', 'refused', 'answered']),
)
export type SyntheticReason = z.infer<ReturnType<typeof syntheticReasonSchema>>

/** Fields of a result that list the effects of its call and the data kept from it. */
export const effectsShape = lazily(() => ({
  /** Files the tool reported as changed. */
  changed: z.array(z.string()).readonly().exactOptional(),
  /** Data that the tool kept in order to undo the call. `of` names the thing that changed. No model sees it. */
  receipt: z.object({ of: z.string().exactOptional(), data: z.unknown() }).exactOptional(),
  /** Parts of the result that were too large to show and are kept apart from the log. */
  artifacts: z.array(artifactSchema()).readonly().exactOptional(),
}))

export const toolResultMessageSchema = lazily(() =>
  z.object({
    role: z.literal('toolResult'),
    callId: z.string(),
    toolName: z.string(),
    content: z.array(plainBlockSchema()).readonly(),
    isError: z.boolean(),
    synthetic: syntheticReasonSchema().exactOptional(),
    ...effectsShape(),
    /** Summary, in one line, of the calls that this call made itself, such as those of a script. */
    calls: z.string().exactOptional(),
    /** Errors of those calls, without calls that were repeated and succeeded. Each error is listed once, in one line. */
    failures: z.array(z.string()).readonly().exactOptional(),
    /** Set if the last block comes from the runtime: the outcome of an earlier identical call. */
    hasLesson: z.literal(true).exactOptional(),
    /** Set if the result is from a tool of the runtime (memory, brakes, handoffs), so it brings no outside content into the conversation. */
    ofRuntime: z.literal(true).exactOptional(),
    /** Set if the call has `via`. */
    via: z.literal(callToolName).exactOptional(),
  }),
)
export type ToolResultMessage = z.infer<ReturnType<typeof toolResultMessageSchema>>

export const messageSchema = lazily(() =>
  z.discriminatedUnion('role', [userMessageSchema(), assistantMessageSchema(), toolResultMessageSchema()]),
)
export type Message = z.infer<ReturnType<typeof messageSchema>>

export {
  addUsage,
  countMedia,
  isMedia,
  mediaText,
  noUsage,
  providedText,
  saidByTool,
  textOf,
  toolCallsOf,
  totalTokens,
} from './text/messageText.ts'
