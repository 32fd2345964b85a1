import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { cutEnd } from '../../../../src/protocol/text/cutMiddle.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { nearestWord } from '../../../../src/protocol/checks/nearestWord.ts'
import { defineTool, type ToolContext } from '../../../../src/actors/tools/defineTool.ts'
import { fileProblem } from '../files/fileProblem.ts'
import { maxTextBytes, readText } from '../files/readText.ts'
import { walkFiles } from '../files/walkFiles.ts'
import { openWorkspace, type Workspace } from '../files/workspacePath.ts'
import { skillFile } from './scanSkills.ts'
import type { Skill } from './skill.ts'

/** Maximum number of listed files of a skill. */
const maxFiles = 200
const maxHeadChars = 20_000

const input = lazily(() =>
  z.object({
    name: z.string().min(1).describe('The skill, as the list of skills names it.'),
    path: z
      .string()
      .min(1)
      .optional()
      .describe('A file or folder of the skill, relative to its folder. Default: its instructions.'),
    offset: z.int().positive().optional().describe('First line to read, from 1.'),
    limit: z.int().positive().optional().describe('Most lines to read. Default: as many as fit.'),
  }),
)

/** Creates `read_skill`. `skills` returns the skills that exist at the time of the call. */
export const readSkillTool = (skills: () => readonly Skill[]) =>
  defineTool({
    name: 'read_skill',
    description:
      'Read the instructions of a skill, or with path a text file of its folder. At most 50 kB come back; a partial answer starts with a ' +
      'line in brackets that says which lines it holds: read on with offset. Nothing is executed.',
    input: input(),
    canonical: ({ path, ...given }) =>
      path === undefined ? given : { ...given, path: openFolder(find(skills(), given.name)).spell(path, 'folder') },
    effects: 'none',
    maxOutputChars: maxTextBytes + maxHeadChars,
    run: async ({ name, path, offset, limit = Infinity }, context) => {
      const skill = find(skills(), name)
      const workspace = openFolder(skill)
      const place = path === undefined ? join(workspace.root, skillFile) : await workspace.locate(path)
      if (place !== join(workspace.root, skillFile)) {
        const stats = await stat(place).catch((thrown: unknown) => {
          throw fileProblem(thrown, path!)
        })
        if (stats.isDirectory()) return listing(workspace, place, context)
        return readText(workspace, path!, { offset: offset ?? 1, limit }, context)
      }
      const begin = skill.bodyLine
      const text = await readText(workspace, skillFile, { offset: offset ?? begin, limit, begin }, context)
      context.pin()
      return offset === undefined ? `${await headOf(skill, workspace, context)}\n\n${text}` : text
    },
  })

function find(skills: readonly Skill[], name: string): Skill {
  const found = skills.find((skill) => skill.name === name)
  if (found !== undefined) return found
  const names = skills.map((skill) => skill.name)
  const nearest = nearestWord(name, names)
  const hint = nearest === undefined ? `There are: ${names.join(', ')}.` : `Did you mean ${JSON.stringify(nearest)}?`
  throw new Error(`There is no skill ${JSON.stringify(name)}. ${hint}`)
}

function openFolder({ name, folder }: Skill): Workspace {
  let cause: unknown
  try {
    const workspace = openWorkspace(folder)
    // A link that has come since it was looked at leads out of the folders of skills.
    if (workspace.root === folder) return workspace
  } catch (thrown) {
    cause = thrown
  }
  throw new Error(`The folder of the skill ${JSON.stringify(name)} is gone.`, { cause })
}

/** Returns the facts that the model needs besides the text: where files are, and the fields of the front matter. */
async function headOf(skill: Skill, workspace: Workspace, context: Pick<ToolContext, 'signal'>): Promise<string> {
  const { name, folder, license, compatibility, allowedTools, metadata = {} } = skill
  const facts = [
    ['license', license],
    ['compatibility', compatibility],
    ['meant for the tools', allowedTools?.join(', ')],
    ...Object.entries(metadata),
  ].flatMap(([label, fact]) => (fact === undefined || fact === '' ? [] : `${label}: ${fact}`))
  const files = (await filesOf(workspace, workspace.root, context.signal)).filter((path) => path !== skillFile)
  const about = [`skill ${name}, in ${shown(folder)}`, ...facts].join('; ')
  if (files.length === 0) return `[${about}]`
  const how =
    'read text with read_skill and path; run scripts, with a tool for commands if you have one, by their absolute path'
  return cutEnd(`[${about}]\n[its other files (${how}):\n${files.join('\n')}]`, maxHeadChars)
}

async function listing(workspace: Workspace, folder: string, { signal }: Pick<ToolContext, 'signal'>): Promise<string> {
  const files = await filesOf(workspace, folder, signal)
  return files.length === 0 ? `[no files in ${workspace.show(folder)}]` : files.join('\n')
}

/** Returns a path with line breaks and bidirectional marks replaced by their codes. */
const shown = (path: string): string =>
  path.replace(
    /[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/gu,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** Returns the files below a folder, as values for `path`. */
async function filesOf(workspace: Workspace, folder: string, signal: AbortSignal): Promise<string[]> {
  const prefix = folder === workspace.root ? '' : `${workspace.show(folder)}/`
  const files: string[] = []
  for await (const { path, isLink } of walkFiles(folder, signal)) {
    if (files.length === maxFiles) return [...files, '… and more: list a folder by its path']
    files.push(`${shown(prefix + path)}${isLink ? ' (link)' : ''}`)
  }
  return files
}
