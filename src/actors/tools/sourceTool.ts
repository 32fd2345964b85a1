import { z } from 'zod'
import { lazily } from '../../protocol/lazily.ts'
import type { OfferedToolSpec } from '../../protocol/toolsChange.ts'
import { Cancellation } from '../timing/cancellation.ts'
import type { RunContext } from '../calls/runContext.ts'
import type { AnyTool, ToolEffects, UndoContext } from './defineTool.ts'
import type { OpenSource } from './openSource.ts'
import { parseInput } from './toolSchema.ts'

/**
 * A tool of a source as it was offered according to a record. Its calls go to the tool of the source, if that is still identical. Facts that are
 * needed while the source is unavailable come from the record.
 */
export class SourceTool implements AnyTool {
  readonly offer: OfferedToolSpec
  readonly undo?: NonNullable<AnyTool['undo']>
  readonly #connect: () => OpenSource

  /** `connect`: returns the connection of the tool's source, which it opens if need be. */
  constructor(offer: OfferedToolSpec, connect: () => OpenSource) {
    this.offer = offer
    this.#connect = connect
    if (offer.effects === 'reversible') this.undo = (context) => this.#undo(context)
  }

  get name(): string {
    return this.offer.name
  }

  get description(): string {
    return this.offer.description
  }

  get inputSchema(): OfferedToolSpec['inputSchema'] {
    return this.offer.inputSchema
  }

  get spec(): NonNullable<AnyTool['spec']> {
    return this.offer.spec ?? nothing
  }

  get effects(): ToolEffects {
    return this.offer.effects
  }

  get isCanonical(): true | undefined {
    return this.#there?.isCanonical
  }

  /** Subjects of a call; missing while the tool is unavailable, which is then judged by its name. */
  get subject(): AnyTool['subject'] {
    return this.#there?.subject
  }

  get check(): AnyTool['check'] {
    return this.#there?.check
  }

  get polls(): boolean {
    return this.offer.polls === true
  }

  get timeoutMs(): number {
    return this.#there?.timeoutMs ?? 600_000
  }

  get maxOutputChars(): number {
    return this.#there?.maxOutputChars ?? 30_000
  }

  /**
   * Parses with the tool itself. While the tool is unavailable, any arguments are accepted, because it may accept more than its schema says. Refused
   * arguments would skip the person and `beforeTool`, and could still run later.
   */
  parse(input: unknown): ReturnType<AnyTool['parse']> {
    return this.#there?.parse(input) ?? parseInput(anything(), input)
  }

  /** Returns true if a person must approve a call. While the tool is unavailable, a person is asked if in doubt. */
  needsApproval(input: unknown, context: RunContext<never>): boolean | Promise<boolean> {
    if (this.offer.approval !== 'maybe') return this.offer.approval === 'always'
    return this.#there?.needsApproval(input, context) ?? true
  }

  run(): never {
    throw new Error(`"${this.name}" is run by what bind() gives.`)
  }

  /** Returns the tool itself once its source is up, or the reason, for the model, why it cannot be called. Never rejects. */
  bind(cancellation: Cancellation): AnyTool | Promise<AnyTool | string> {
    const source = this.#connect()
    return source.find(this.offer) ?? this.#wait(source, cancellation)
  }

  async #wait(source: OpenSource, cancellation: Cancellation): Promise<AnyTool | string> {
    await source.ready(cancellation).catch(() => {})
    if (cancellation.aborted) return 'It was aborted.'
    return source.find(this.offer) ?? this.#whyNot(source)
  }

  #whyNot(source: OpenSource): string {
    const { name, offer } = this
    const { trouble, isUp } = source.listing()
    if (isUp) return `"${name}" is no longer as it was offered to you: ${offer.source} has changed it or taken it away.`
    return `"${name}" cannot be called: ${offer.source} is not there${trouble === undefined ? '' : ` (${trouble})`}.`
  }

  async #undo(context: UndoContext<unknown, unknown, never>): Promise<void> {
    const tool = await this.bind(Cancellation.of(context.signal))
    if (typeof tool === 'string') throw new Error(tool)
    await tool.undo!(context)
  }

  /** The tool itself, if its source is up already. Opens nothing, so that a mere look does not start a server. */
  get #there(): AnyTool | undefined {
    return this.#connect().find(this.offer)
  }
}

const nothing = Object.freeze({})
const anything = lazily(() => z.unknown())
