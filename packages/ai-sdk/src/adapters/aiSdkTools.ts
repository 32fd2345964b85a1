import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import type { AiSdkToolSet, ToolsOf } from '../../../../src/actors/define/outside.ts'
import type { RunContext } from '../../../../src/actors/calls/runContext.ts'
import type { Tool, ToolEffects } from '../../../../src/actors/tools/defineTool.ts'
import type { SourceStatus, ToolConnection, ToolSource } from '../../../../src/actors/tools/toolSource.ts'
import { aiSdkTool, type AiSdkToolUse } from './aiSdkTool.ts'

/** Options that tools of the AI SDK do not state themselves, by the name of the tool where an option is a map. */
export interface AiSdkToolsOptions<Name extends string = string> {
  /** Effects as in `defineTool`; `'irreversible'` for unnamed tools. */
  readonly effects?: { readonly [N in Name]?: Exclude<ToolEffects, 'reversible'> }
  /** Calls that wait for a person, which overrides the tool's own setting. */
  readonly needsApproval?: {
    readonly [N in Name]?: boolean | ((input: never, context: RunContext<never>) => boolean | Promise<boolean>)
  }
  /** Time limit of each call, in milliseconds; default 600,000. */
  readonly timeoutMs?: number
  /** Maximum length of output as in `defineTool`; default 30,000. */
  readonly maxOutputChars?: number
}

/**
 * Tools made with `tool()` or `dynamicTool()` of the AI SDK, or by a provider's package, for an agent's `tools`. A set without options
 * can be given there as it is.
 *
 * `execute` gets `{ toolCallId, abortSignal, context }`, where `context` is the `deps` of the run; `messages` is empty. Values that it
 * yields before the last are progress. A tool whose schema is a promise joins the others once that is there.
 *
 * @throws RuntimeError `INVALID_DEFINITION` for a tool without `execute` that no provider carries out, and for an invalid schema.
 *
 * @example
 * ```ts
 * import { aiSdkTools } from 'escapement/ai-sdk'
 *
 * const weather = {
 *   description: 'The current weather in a city.',
 *   inputSchema: z.object({ city: z.string() }),
 *   execute: ({ city }: { city: string }) => `Fair in ${city}.`,
 * }
 * defineAgent({ name: 'guide', model, tools: [...aiSdkTools({ weather }, { effects: { weather: 'none' } })] })
 * ```
 */
export function aiSdkTools<const Set extends AiSdkToolSet>(
  set: Set,
  options: AiSdkToolsOptions<keyof Set & string> = {},
): readonly ToolsOf<Set>[] {
  checkNames(set, options)
  return toolsOfSet(set, options, '') as unknown as readonly ToolsOf<Set>[]
}

/** Returns the tools of a set, and a source for tools whose schema is a promise. Errors begin with `label`. */
export function toolsOfSet(
  set: AiSdkToolSet,
  { effects, needsApproval, ...shared }: AiSdkToolsOptions,
  label: string,
): readonly (Tool | ToolSource)[] {
  const tools: Tool[] = []
  const later: Later[] = []
  for (const [name, tool] of Object.entries(set)) {
    const use: AiSdkToolUse = { ...shared, effects: effects?.[name], needsApproval: needsApproval?.[name] }
    const made = aiSdkTool(name, tool, use, label)
    if (made instanceof Promise) later.push(new Later(name, made))
    else tools.push(made)
  }
  return [...tools, ...(later.length === 0 ? [] : [sourceOf(later)])]
}

/** Returns true if a value is a set of tools of the AI SDK. An object without tools does not count as one: it is probably a mistake. */
export const isAiSdkToolSet = (value: unknown): value is AiSdkToolSet =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.keys(value).length > 0 &&
  Object.values(value).every((tool) => typeof tool === 'object' && tool !== null && 'inputSchema' in tool)

function checkNames(set: AiSdkToolSet, options: AiSdkToolsOptions): void {
  if (!isAiSdkToolSet(set))
    throw new RuntimeError('INVALID_DEFINITION', 'aiSdkTools: give tools by name, { search: tool({ … }) }.')
  for (const option of ['effects', 'needsApproval'] as const) {
    const unknown = Object.keys(options[option] ?? {}).find((name) => !Object.hasOwn(set, name))
    if (unknown !== undefined)
      throw new RuntimeError(
        'INVALID_DEFINITION',
        `aiSdkTools: ${option} names "${unknown}", which is no tool of the set.`,
      )
  }
}

/** A tool whose schema is on its way. */
class Later {
  readonly name: string
  readonly done: Promise<void>
  tool: Tool | undefined
  trouble: string | undefined

  constructor(name: string, made: Promise<Tool>) {
    this.name = name
    this.done = made.then(
      (tool) => void (this.tool = tool),
      (thrown: unknown) => void (this.trouble = messageOf(thrown)),
    )
  }
}

/** Those tools as a source: they are there from the first turn on that begins after their schemas came. */
const sourceOf = (later: readonly Later[]): ToolSource => ({
  // Two sets of one agent may each have some.
  source: `ai-sdk_${later[0]!.name}`.slice(0, 64),
  open: ({ clock }) => new LaterTools(later, clock.now()),
})

class LaterTools implements ToolConnection {
  readonly #later: readonly Later[]
  readonly #since: number
  #tools: readonly Tool[] = []

  constructor(later: readonly Later[], since: number) {
    this.#later = later
    this.#since = since
  }

  get tools(): readonly Tool[] {
    const made = this.#later.flatMap(({ tool }) => tool ?? [])
    if (made.length !== this.#tools.length) this.#tools = made
    return this.#tools
  }

  get trouble(): string | undefined {
    const troubles = this.#later.flatMap(({ trouble }) => trouble ?? [])
    return troubles.length === 0 ? undefined : troubles.join(' ')
  }

  async ready(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const leave = (): void => resolve()
    signal.addEventListener('abort', leave, { once: true })
    await Promise.race([promise, Promise.all(this.#later.map(({ done }) => done))])
    signal.removeEventListener('abort', leave)
  }

  status(): SourceStatus {
    const isWaiting = this.#later.some(({ tool, trouble }) => tool === undefined && trouble === undefined)
    const { trouble } = this
    return {
      state: isWaiting ? 'opening' : 'up',
      since: this.#since,
      ...(trouble === undefined ? {} : { trouble }),
    }
  }

  async close(): Promise<void> {}
}
