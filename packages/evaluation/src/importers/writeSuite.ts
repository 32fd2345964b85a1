import { copyFile, mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { messageOf } from '../../../../src/protocol/errors.ts'
import { isInside } from '../suite/task.ts'
import { wrong, type Imported, type ImportedFile } from './imported.ts'

/**
 * Writes a suite into a folder that is empty or missing.
 *
 * @throws RuntimeError `INVALID_OPTION` if the folder is not empty or cannot be written, two tasks have one id, or a path leads out of it.
 */
export async function writeSuite(folder: string, { tasks, module, others = new Map() }: Imported): Promise<void> {
  const there = await readdir(folder).catch((): string[] => [])
  if (there.length > 0) throw wrong(`--out ${folder} is not empty: give a folder for the suite that is.`)
  const ids = tasks.map(({ task }) => task.id)
  const twice = ids.find((id, at) => id === '' || ids.indexOf(id) !== at)
  if (twice !== undefined) throw wrong(twice === '' ? 'A task has no name.' : `Two tasks have the id "${twice}".`)
  try {
    await mkdir(folder, { recursive: true })
    if (module !== undefined) await writeFile(join(folder, 'suite.mjs'), module)
    for (const [path, text] of others) await lay(folder, path, { text })
    for (const { task, files = new Map<string, ImportedFile>(), check = new Map<string, ImportedFile>() } of tasks) {
      const { id, ...rest } = task
      await lay(folder, `${id}/task.json`, { text: `${JSON.stringify(rest, null, 2)}\n` })
      for (const [path, file] of files) await lay(join(folder, id, 'files'), path, file)
      for (const [path, file] of check) await lay(join(folder, id, 'check'), path, file)
    }
  } catch (thrown) {
    throw wrong(`The suite cannot be written: ${messageOf(thrown)}.`)
  }
}

async function lay(folder: string, path: string, file: ImportedFile): Promise<void> {
  if (!isInside(path)) throw new Error(`${path} leads out of ${folder}`)
  const to = join(folder, path)
  await mkdir(dirname(to), { recursive: true })
  if ('from' in file) await copyFile(file.from, to)
  else if ('link' in file) await symlink(file.link, to)
  else await writeFile(to, file.text)
}
