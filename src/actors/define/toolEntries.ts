import { z } from 'zod'
import { RuntimeError } from '../../protocol/errors.ts'
import { lazily } from '../../protocol/lazily.ts'
import { DeferredTools } from '../parts/deferred/deferred.ts'
import { outside, type AiSdkToolSet, type ToolsOf } from './outside.ts'
import type { AnyTool, ToolDeps } from '../tools/defineTool.ts'
import { isToolSource, type ToolSource } from '../tools/toolSource.ts'

/** An entry of the option `tools` of an agent. */
export type ToolEntry = AnyTool | ToolSource | AiSdkToolSet | DeferredTools

/** The option `tools`: entries, or a set of tools of the AI SDK. */
export type ToolEntries = readonly ToolEntry[] | AiSdkToolSet

/** An entry of the option, or of a group in it. */
export type EntryOf<Tools extends ToolEntries> = Tools extends readonly (infer Entry)[] ? Member<Entry> : Tools

type Member<Entry> = Entry extends DeferredTools<infer Inner> ? Inner : Entry

/** The tools of entries, as far as they are known when the agent is defined. */
export type ToolsIn<Tools extends ToolEntries> =
  EntryOf<Tools> extends infer Entry
    ? Entry extends AnyTool
      ? Entry
      : Entry extends ToolSource
        ? never
        : ToolsOf<Entry>
    : never

/** Deps that tools need, all of them together. Tools of sources need none. */
export type EntryToolDeps<Tools extends ToolEntries> = ToolDeps<Extract<EntryOf<Tools>, AnyTool>>

const isTool = (entry: unknown): entry is AnyTool => typeof (entry as AnyTool | undefined)?.parse === 'function'

const isToolSet = (entry: unknown): boolean => outside.isToolSet?.(entry) === true

const isEntry = (entry: unknown): boolean =>
  entry instanceof DeferredTools
    ? entry.entries.every(isEntry)
    : isTool(entry) || isToolSource(entry) || isToolSet(entry)

const wanted = (entry: unknown): string =>
  Array.isArray(entry)
    ? 'it is a list itself: spread it, as in [...workspaceTools(dir)]'
    : 'make it with defineTool, or give a source of tools, or tools of the AI SDK by name'

export const toolEntriesSchema = lazily(() =>
  z.custom<ToolEntries>((given) => (Array.isArray(given) ? given.every(isEntry) : isToolSet(given)), {
    error: ({ input }) =>
      Array.isArray(input)
        ? `entry ${input.findIndex((entry) => !isEntry(entry))}: ${wanted(input.find((entry) => !isEntry(entry)))}`
        : 'give a list of tools, or tools of the AI SDK by name',
  }),
)

/**
 * Returns the tools and sources of the option `tools`, with those that other options bring.
 *
 * @throws RuntimeError `INVALID_DEFINITION`: two sources of one name, or a name that cannot prefix a tool's name.
 */
export function toolEntries(
  given: ToolEntries = [],
  extra: readonly (AnyTool | ToolSource)[],
  label: string,
): { readonly tools: readonly AnyTool[]; readonly toolSources: readonly ToolSource[] } {
  const entries = [...(isList(given) ? given : [given]), ...extra].flatMap(
    (entry): readonly (AnyTool | ToolSource)[] => {
      // What is in a group comes with its part.
      if (entry instanceof DeferredTools) return nothing
      return isTool(entry) || isToolSource(entry) ? [entry] : outside.toolsOf!(entry, `${label}: `)
    },
  )
  const toolSources = entries.filter(isToolSource)
  const tools = entries.filter((entry): entry is AnyTool => !isToolSource(entry))
  const names = toolSources.map(({ source }) => source)
  const refuse = (what: string): never => {
    throw new RuntimeError('INVALID_DEFINITION', `${label}: tools: ${what}.`)
  }
  for (const [index, name] of names.entries()) {
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(name))
      refuse(`the source ${JSON.stringify(name)}: use 1 to 64 letters, digits, "_" or "-"`)
    if (names.indexOf(name) < index) refuse(`two sources are named "${name}"`)
  }
  return { tools, toolSources: toolSources.length === 0 ? nothing : toolSources }
}

const isList = (given: ToolEntries): given is readonly ToolEntry[] => Array.isArray(given)

const nothing: readonly never[] = Object.freeze([])

/** Returns the tools by name. @throws RuntimeError `INVALID_DEFINITION`: two tools of one name. */
export function toolMap(tools: readonly AnyTool[], label: string): ReadonlyMap<string, AnyTool> {
  const map = new Map<string, AnyTool>()
  for (const tool of tools) {
    if (map.has(tool.name))
      throw new RuntimeError('INVALID_DEFINITION', `${label}: two tools are named "${tool.name}".`)
    map.set(tool.name, tool)
  }
  return map
}
