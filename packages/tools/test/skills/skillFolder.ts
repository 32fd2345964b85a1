import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { skillTools, type SkillOptions, type SkillSource } from '../../src/skills/skillTools.ts'
import type { ToolConnection } from '../../../../src/actors/tools/toolSource.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import type { CaseContext } from '../../../../test/support/suite.ts'
import { toolContext, type RecordedToolContext } from '../../../../test/support/toolContext.ts'

/** A folder with skills in it, and an open source of them. */
export interface SkillFolder {
  readonly dir: string
  readonly source: SkillSource
  readonly open: ToolConnection
  write(path: string, text: string | Uint8Array): void
  /** Looks again, as a turn does when it begins. */
  look(): Promise<ToolConnection>
  /** Calls `read_skill` as the runtime does; resolves to its text. */
  read(input: object, context?: RecordedToolContext): Promise<string>
}

/** The text of a `SKILL.md`. */
export const skillText = (name: string, more = 'description: Does things.', body = `Do ${name}.\n`): string =>
  `---\nname: ${name}\n${more}\n---\n${body}`

/** Makes one with the given files; it is removed after the case. */
export function skillFolder(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  files: { readonly [path: string]: string | Uint8Array } = {},
  options: SkillOptions = {},
): SkillFolder {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'escapement-skills-')))
  cleanup(() => rmSync(dir, { recursive: true, force: true }))
  const write = (path: string, text: string | Uint8Array): void => {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), text)
  }
  for (const [path, text] of Object.entries(files)) write(path, text)
  const source = skillTools([dir], options)
  const open = source.open({ clock: simulatedClock() })
  const look = async (): Promise<ToolConnection> => {
    await open.ready(new AbortController().signal)
    return open
  }
  const read = async (input: object, given = toolContext()): Promise<string> => {
    const [tool] = (await look()).tools
    const parsed = tool?.parse(input)
    if (tool === undefined || !parsed?.ok) throw new Error(parsed?.ok === false ? parsed.message : 'no tool')
    return String(await tool.run(parsed.value, given as never))
  }
  return { dir, source, open, write, look, read }
}
