import type { Model, ModelError, ModelPart, ModelRequest, RefusedPart } from '../../protocol/ports/model.ts'
import type { Clock } from '../../protocol/ports/clock.ts'
import type { WaitReason } from '../../protocol/events.ts'
import type { Refused } from '../../conversation/tree/annotations.ts'
import { TextHash } from '../../protocol/text/textHash.ts'
import type { ReplyFailure } from '../../machines/effectTypes.ts'
import { isMedia, mediaText, type Block } from '../../protocol/messages.ts'
import type { Provenance } from '../../protocol/provenance.ts'

/** Maximum time for which a model may be silent. */
export interface SilenceLimit {
  readonly clock: Clock
  readonly ms: number
}

export const silenceError = ({ ms }: SilenceLimit): ModelError => ({
  kind: 'network',
  message: `The model said nothing for ${ms} ms.`,
})

/** Calls `giveUp` once a part has been awaited for too long. Uses one timer for all parts of a stream, which checks the time when it fires. */
export class Silence {
  readonly #limit: SilenceLimit
  readonly #giveUp: () => void
  /** Time since which a part has been awaited, if one is. */
  #since: number | undefined
  #isOver = false
  #cancel: (() => void) | undefined

  constructor(limit: SilenceLimit, giveUp: () => void) {
    this.#limit = limit
    this.#giveUp = giveUp
  }

  /** Notes that a part was asked for. */
  begin(): void {
    if (this.#isOver) return
    const { clock, ms } = this.#limit
    this.#since = clock.now()
    this.#cancel ??= clock.after(ms, this.#look)
  }

  /** Notes that the part came. */
  pause(): void {
    this.#since = undefined
  }

  end(): void {
    this.#isOver = true
    this.#cancel?.()
  }

  readonly #look = (): void => {
    const { clock, ms } = this.#limit
    const now = clock.now()
    // A clock that was set back would have it wait for as much longer.
    this.#since = this.#since === undefined ? undefined : Math.min(this.#since, now)
    const left = this.#since === undefined ? ms : this.#since + ms - now
    if (left > 0) this.#cancel = clock.after(left, this.#look)
    else this.#giveUp()
  }
}

interface CallOptions {
  readonly signal: AbortSignal
  readonly turnIndex?: number
  /** Set if no later request begins with this one. */
  readonly isOnce?: true
  /** Set if requests often come so late that a longer lifetime of their cache pays. */
  readonly comesLate?: true
}

/** Lets the calls of models through within the limits of a runtime. */
export interface Gate {
  /** Makes a call as soon as it is allowed. `unlessPaused`: it fails with `pausedError` instead of waiting for its provider. */
  call(model: Model, request: ModelRequest, options: CallOptions, unlessPaused?: boolean): AsyncIterable<ModelPart>
  /** Returns the remaining pause of the provider of the model with this id, in milliseconds. */
  pausedMs(model: string): number
}

/** A caller of models. */
export interface Caller {
  readonly root: string
  /** Estimated tokens of its request; computed by default. */
  readonly tokens?: number | undefined
  /**
   * Called when a call has to wait. Returns a function to call when the wait is over, with its duration in
   * milliseconds, or with nothing if the call was given up.
   */
  waits(model: string, why: WaitReason, ahead: number): (ms?: number) => void
}

/** Returns the gate of one caller, which makes each call when the limits let it through. */
export type LimitedModels = (caller: Caller) => Gate

/**
 * Options with which a model is called within the library. A model made of other models calls each of them with the
 * options that it was given.
 */
export interface StreamOptions extends CallOptions {
  readonly gate?: Gate
  /** True if another model can be asked while the provider of this one is paused. */
  readonly unlessPaused?: boolean
}

const choosing = new WeakSet<Model>()

/** Marks a model that makes no calls itself but lets other models answer. */
export function madeOfModels(model: Model): Model {
  choosing.add(model)
  return model
}

/** Returns true if a model makes no calls itself. */
export const isMadeOfModels = (model: Model): boolean => choosing.has(model)

/** Calls a model; through the gate, if there is one. */
export function openStream(model: Model, request: ModelRequest, options: StreamOptions): AsyncIterable<ModelPart> {
  if (choosing.has(model)) return model.stream(request, options)
  const { gate, unlessPaused = false, ...rest } = options
  return gate === undefined ? model.stream(request, rest) : gate.call(model, request, rest, unlessPaused)
}

/** Returns the time for which asking this model is useless, in milliseconds. */
export const pausedMs = (model: Model, { gate }: StreamOptions): number =>
  gate === undefined || choosing.has(model) ? 0 : gate.pausedMs(model.id)

/** Returns the error for a model that is not called because its provider is paused. */
export const pausedError = (retryAfterMs: number): ModelError => ({
  kind: 'rateLimited',
  message: `the provider wants no calls for another ${retryAfterMs} ms`,
  retryAfterMs,
})

/** Returns a model that is called through a gate; the model itself without one. */
export const through = (gate: Gate | undefined, model: Model): Model =>
  gate === undefined
    ? model
    : { id: model.id, stream: (request, options) => openStream(model, request, { ...options, gate }) }

type Part = RefusedPart['part']

/** Names of the parts for people. */
const words: { readonly [P in Part]: string } = {
  toolSchema: 'the schema of a tool',
  outputSchema: 'the schema of the answer',
  cache: 'the marks of what it should cache',
  images: 'images',
  files: 'files',
  thinking: 'thinking',
  providerCalls: 'what the provider did by itself',
}

/** Patterns by which providers name a part. The first part that the request can do without counts. */
const names: readonly (readonly [part: Part, named: RegExp])[] = [
  ['cache', /\bcache_?control\b|\bcache_?point\b|\bprompt_?cache/i],
  ['toolSchema', /\btools?[.[](?<index>\d+)/],
  ['toolSchema', /\bschema for (?:function|tool) ['"`]?(?<name>[\w-]+)/i],
  ['outputSchema', /\b(response_format|text\.format|output_format|output_config|json_schema)\b/i],
  ['images', /\bimages?\b|\bmedia_type\b|image_url/i],
  ['files', /\b(pdf|document|file|audio|media)s?\b|\binput_(file|audio)\b/i],
  ['thinking', /\bthinking\b|\bsignature\b|\breasoning\b/i],
  ['providerCalls', /\b(server_tool_use|web_search|web_fetch|code_execution|code_interpreter|mcp_tool_use)/i],
]

const inWords = (block: Extract<Block, { type: 'image' | 'file' }>): Block => ({
  type: 'text',
  text: `[${mediaText(block).slice(1, -1)}: left out, as the provider refused it]`,
})

/** Functions that return a block without the refused part. */
const leaves: {
  readonly [P in Exclude<Part, 'toolSchema' | 'outputSchema' | 'cache'>]: (block: Block) => Block | undefined
} = {
  images: (block) => (block.type === 'image' ? inWords(block) : block),
  files: (block) => (isMedia(block) ? inWords(block) : block),
  thinking: (block) => (block.type === 'thinking' ? undefined : block),
  providerCalls: (block) => (block.type === 'provider' ? undefined : block),
}

const printOf = (schema: unknown): string => new TextHash().addJson(schema).value

/**
 * Returns the part that a provider named when it refused a request, and the part's name in words; `undefined` if it
 * named nothing that can be left out. Pure.
 */
export function refusedPart(
  request: ModelRequest,
  { kind, error }: ReplyFailure,
  model: string,
): { readonly part: RefusedPart; readonly what: string } | undefined {
  if (kind !== 'badRequest') return undefined
  for (const [part, pattern] of names) {
    const named = pattern.exec(error.message)
    const refused = named === null ? undefined : { part, model, ...schemaIn(request, part, named.groups) }
    if (refused !== undefined && leave(request, refused) !== request) return { part: refused, what: words[part] }
  }
  return undefined
}

/** Returns the fields that identify the refused schema. */
function schemaIn(
  { tools, settings }: ModelRequest,
  part: Part,
  named: { readonly [group: string]: string | undefined } = {},
): Pick<RefusedPart, 'tool' | 'print'> {
  if (part === 'outputSchema') return { print: printOf(settings.responseFormat) }
  if (part !== 'toolSchema') return {}
  const { index, name } = named
  const tool = index === undefined ? tools.find((each) => each.name === name) : tools[Number(index)]
  return tool === undefined ? {} : { tool: tool.name, print: printOf(tool.inputSchema) }
}

/**
 * Returns the request without the parts that were refused before; the same one if there were none. Parts that came into
 * the conversation after a refusal are sent, because the next image may be sound. Pure.
 */
export function withoutRefused(
  request: ModelRequest,
  refused: readonly Refused[],
  at: { readonly model: string; readonly turnIndex: number; readonly provenance: () => readonly Provenance[] },
): ModelRequest {
  return refused
    .filter(({ model }) => model === at.model)
    .reduce((left, part) => leave(left, part, part.turnIndex === at.turnIndex ? undefined : endOf(part, at)), request)
}

/** Returns the number of messages of the refused request that still exist. */
const endOf = ({ turnIndex }: Refused, { provenance }: { readonly provenance: () => readonly Provenance[] }): number =>
  provenance().findLastIndex((from) => from.type === 'loopTurn' && from.turnIndex <= turnIndex) + 1

function leave(request: ModelRequest, refused: RefusedPart, end = request.messages.length): ModelRequest {
  const { part } = refused
  if (part === 'toolSchema') return withoutSchema(request, refused)
  if (part === 'outputSchema') return withoutFormat(request, refused)
  if (part === 'cache') return withoutCache(request)
  return withBlocks(request, leaves[part], end)
}

/** Removes the schema of a tool, which checks its arguments itself. */
function withoutSchema(request: ModelRequest, { tool: name, print }: RefusedPart): ModelRequest {
  const at = request.tools.findIndex((tool) => tool.name === name)
  const tool = request.tools[at]
  if (tool === undefined || Object.keys(tool.inputSchema).join() === 'type' || printOf(tool.inputSchema) !== print)
    return request
  return { ...request, tools: request.tools.with(at, { ...tool, inputSchema: { type: 'object' } }) }
}

function withoutFormat(request: ModelRequest, { print }: RefusedPart): ModelRequest {
  const { responseFormat, ...settings } = request.settings
  return responseFormat === undefined || printOf(responseFormat) !== print ? request : { ...request, settings }
}

const withoutCache = (request: ModelRequest): ModelRequest =>
  request.settings.cache === false ? request : { ...request, settings: { ...request.settings, cache: false } }

/** Changes the blocks of the messages before `end`; `change` returns a replacement or none. */
function withBlocks(request: ModelRequest, change: (block: Block) => Block | undefined, end: number): ModelRequest {
  let isChanged = false
  const messages = request.messages.map((message, place) => {
    if (place >= end) return message
    const content = message.content.flatMap((block) => change(block) ?? [])
    if (content.length === message.content.length && content.every((block, at) => block === message.content[at]))
      return message
    // A reply of nothing else stays as it is.
    if (content.length === 0) return message
    isChanged = true
    return { ...message, content }
  })
  return isChanged ? { ...request, messages } : request
}
