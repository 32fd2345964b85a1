import { resolve } from 'node:path'
import { z } from 'zod'
import { oneLine } from '../../../../src/protocol/text/cutMiddle.ts'
import { checkedBy } from '../../../../src/protocol/errors.ts'
import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import type { AnyTool } from '../../../../src/actors/tools/defineTool.ts'
import type { SourceHost, SourceStatus, ToolConnection, ToolSource } from '../../../../src/actors/tools/toolSource.ts'
import { skillFoldersSchema } from '../../../../src/actors/parts/skills/skillPart.ts'
import { describeSkills } from './describeSkills.ts'
import type { OpenFolders } from './openFolders.ts'
import type { FoundSkills } from './skill.ts'

export interface SkillOptions {
  /** Name of the source in the log and on the page. Default `'skills'`. */
  readonly source?: string
  /** Maximum length of names and descriptions in the system prompt; longer descriptions are cut. Default 12,000 characters, at most 19,000. */
  readonly maxListChars?: number
}

/** Skills as a source of tools. */
export interface SkillSource extends ToolSource {
  /** Lists the existing skills, without an agent. Never rejects: problems are in `trouble`, a line each. */
  list(): Promise<FoundSkills>
}

const optionsSchema = lazily(() =>
  onlyFields({
    source: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,32}$/, 'use 1 to 32 letters, digits, "_" or "-"')
      .optional(),
    maxListChars: z.int().min(200).max(19_000).optional(),
  }),
)

/**
 * Skills in the open format: folders with a `SKILL.md`. Each of `folders` is one skill or holds several. An agent has their names and
 * descriptions in its instructions and reads the rest with the tool `read_skill`; text it has read stays in its sight. Files are read as they
 * are at the beginning of a turn. A skill that is broken is left out and reported; the others are not affected. Needs the package `yaml`.
 *
 * @throws RuntimeError `INVALID_OPTION` when an option is malformed.
 *
 * @example
 * ```ts
 * const clerk = defineAgent({ name: 'clerk', model, tools: [...workspaceTools('.'), skillTools(['./skills'])] })
 * ```
 */
export function skillTools(folders: readonly string[], options: SkillOptions = {}): SkillSource {
  checkedBy(onlyFields({ folders: skillFoldersSchema(), options: optionsSchema() }), { folders, options }, 'skillTools')
  const { source = 'skills', maxListChars = 12_000 } = options
  const places = folders.map((folder) => resolve(folder))
  return Object.freeze({
    source,
    open: (host: SourceHost) => new SkillConnection(places, maxListChars, host),
    list: async () => (await open(places)).look(),
  })
}

/** Opens folders with code that is loaded on use, because it depends on the workspace's functions and most agents have no skills. */
const open = async (folders: readonly string[]): Promise<OpenFolders> =>
  (await import('./openFolders.ts')).openFolders(folders)

const none: readonly never[] = Object.freeze([])

/** Maximum number of problems that are reported for a source, on one line. */
const mostReported = 5

class SkillConnection implements ToolConnection {
  readonly #folders: readonly string[]
  readonly #maxListChars: number
  readonly #host: SourceHost
  #open: Promise<OpenFolders> | undefined
  #looking: Promise<void> | undefined
  #state: 'idle' | 'up' | 'closed' = 'idle'
  #since: number
  tools: readonly AnyTool[] = none
  instructions: string | undefined
  trouble: string | undefined

  constructor(folders: readonly string[], maxListChars: number, host: SourceHost) {
    this.#folders = folders
    this.#maxListChars = maxListChars
    this.#host = host
    this.#since = host.clock.now()
  }

  /** Scan in progress, shared by agents that begin a turn at the same time. */
  ready(signal: AbortSignal): Promise<void> {
    if (this.#state === 'closed' || signal.aborted) return Promise.resolve()
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined))
    return this.#looking
  }

  async #look(): Promise<void> {
    const folders = await (this.#open ??= open(this.#folders))
    const { skills, trouble } = await folders.look()
    if (this.#state === 'closed') return
    const { text, leftOut } = describeSkills(skills, this.#maxListChars)
    const unlisted = leftOut === 0 ? [] : [`${leftOut} of ${skills.length} skills are not listed: raise maxListChars`]
    this.tools = skills.length === 0 ? none : folders.tools
    this.instructions = text
    this.trouble = troubleText([
      ...unlisted,
      ...(skills.length === 0 && trouble.length === 0 ? ['there are no skills'] : trouble),
    ])
    if (this.#state === 'idle') this.#enter('up')
  }

  status(): SourceStatus {
    const status = { state: this.#state, since: this.#since }
    return this.trouble === undefined ? status : { ...status, trouble: this.trouble }
  }

  async close(): Promise<void> {
    this.#enter('closed')
    await this.#looking
  }

  #enter(state: 'up' | 'closed'): void {
    this.#state = state
    this.#since = this.#host.clock.now()
  }
}

function troubleText(lines: readonly string[]): string | undefined {
  if (lines.length === 0) return undefined
  const more = lines.length > mostReported ? [`and ${lines.length - mostReported} more`] : []
  return [...lines.slice(0, mostReported), ...more].map((line) => oneLine(line, 300)).join('; ')
}
