import { readdir, realpath, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { messageOf } from '../../../../src/protocol/errors.ts'
import { isInside } from '../files/isInside.ts'
import { openWorkspace } from '../files/workspacePath.ts'
import { errnoOf } from '../files/fileProblem.ts'
import { openRegularFile } from '../files/openRegularFile.ts'
import { maxFrontMatterBytes, type Yaml } from './frontMatter.ts'
import { readSkill, type ReadSkill } from './readSkill.ts'
import type { FoundSkills, Skill } from './skill.ts'

export const skillFile = 'SKILL.md'

/** Maximum number of entries of a folder that are read. */
const maxEntries = 1_000

/** Skills that were read before, by real folder. A file that has not changed since is not read again. */
export type SkillCache = Map<string, { readonly print: string; readonly read: ReadSkill }>

interface Candidate {
  readonly name: string
  readonly path: string
  /** Real path of the folder that must contain the skill. */
  readonly root: string
}

/**
 * Looks for skills: each folder is one, or holds some. If two skills have one name, the first counts. Never rejects: problems are in
 * `trouble`.
 */
export async function scanSkills(folders: readonly string[], cache: SkillCache, yaml: Yaml): Promise<FoundSkills> {
  const skills = new Map<string, Skill>()
  const trouble: string[] = []
  const seen = new Set<string>()
  for (const folder of folders) {
    const { candidates, hasFolders } = await candidatesIn(folder, trouble)
    let isEmpty = hasFolders
    for (const candidate of candidates) {
      const found = await look(candidate, cache, yaml)
      if (found === undefined) continue
      isEmpty = false
      const { read, real } = found
      if (seen.has(real)) continue
      seen.add(real)
      trouble.push(...read.notes.map((note) => `${candidate.name}: ${note}`))
      if (read.skill === undefined) continue
      const first = skills.get(read.skill.name)
      if (first === undefined) skills.set(read.skill.name, read.skill)
      else trouble.push(`${candidate.name}: left out, as ${first.folder} has that name too`)
    }
    if (isEmpty) trouble.push(`${folder}: none of its folders has a ${skillFile}; name the one that holds the skills`)
  }
  for (const folder of cache.keys()) if (!seen.has(folder)) cache.delete(folder)
  return { skills: [...skills.values()], trouble }
}

/** Returns the folder itself if it is a skill, else its subfolders. */
async function candidatesIn(
  folder: string,
  trouble: string[],
): Promise<{ readonly candidates: readonly Candidate[]; readonly hasFolders: boolean }> {
  try {
    // A link that was named on purpose is followed.
    const root = await realpath(folder)
    if (await isThere(join(root, skillFile)))
      return { candidates: [{ name: basename(folder), path: root, root }], hasFolders: true }
    const entries = await readdir(root, { withFileTypes: true })
    const folders = entries
      .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
      .map(({ name }) => name)
      .filter((name) => name !== '.git' && name !== 'node_modules')
    const names = folders.filter((name) => !name.startsWith('.')).toSorted()
    if (names.length > maxEntries)
      trouble.push(`${folder}: only the first ${maxEntries} of ${names.length} folders are looked at`)
    const candidates = names.slice(0, maxEntries).map((name) => ({ name, path: join(root, name), root }))
    // Folders that are hidden are not looked into, but may be those that were meant.
    return { candidates, hasFolders: folders.length > 0 }
  } catch (thrown) {
    const reason = errnoOf(thrown) === 'ENOENT' ? 'there is no such folder' : messageOf(thrown)
    trouble.push(`${folder}: ${reason}`)
    return { candidates: [], hasFolders: false }
  }
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

/** Reads the skill in a folder; `undefined` if the folder is not a skill. */
async function look(
  { name, path, root }: Candidate,
  cache: SkillCache,
  yaml: Yaml,
): Promise<{ readonly read: ReadSkill; readonly real: string } | undefined> {
  const file = join(path, skillFile)
  const stats = await stat(file, { bigint: true }).catch(() => undefined)
  if (stats === undefined) return undefined
  const wrong = (note: string): { read: ReadSkill; real: string } => ({
    read: { skill: undefined, notes: [note] },
    real: path,
  })
  try {
    const real = await realpath(path)
    if (!isInside(root, real)) return wrong(`it is a link that leads out of ${root}: name the folder it leads to`)
    const print = `${name}/${stats.ino}/${stats.size}/${stats.mtimeNs}/${stats.ctimeNs}`
    const known = cache.get(real)
    if (known?.print === print) return { read: known.read, real }
    const read = readSkill(await beginning(real), { name, real }, yaml)
    cache.set(real, { print, read })
    return { read, real }
  } catch (thrown) {
    return wrong(messageOf(thrown))
  }
}

/** Reads `SKILL.md` up to the maximum length of its front matter. Rejects if the file is outside the folder or not text. */
async function beginning(folder: string): Promise<string> {
  const { handle } = await openRegularFile(openWorkspace(folder), skillFile)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(maxFrontMatterBytes), 0, maxFrontMatterBytes, 0)
    const text = new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, bytesRead), { stream: true })
    if (text.includes('\0')) throw new Error('it is not text')
    return text
  } catch (thrown) {
    throw thrown instanceof TypeError ? new Error(`${skillFile} is not UTF-8 text`, { cause: thrown }) : thrown
  } finally {
    await handle.close()
  }
}
