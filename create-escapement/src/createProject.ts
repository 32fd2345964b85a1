import { cp, mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import type { TemplateName } from './templates.ts'

/** Something a person can mend; its message says how. */
export class CreateError extends Error {}

/** Names that a folder may hold and still count as empty. */
const harmless = new Set(['.git', '.DS_Store', '.idea', '.vscode'])

/**
 * Copies a template into a folder that is new or empty, and names the project after it.
 *
 * @throws CreateError when something is in the folder, it cannot be written, or its name cannot be one of a package.
 */
export async function createProject(
  folder: string,
  template: TemplateName,
  { templatesFolder, version }: { readonly templatesFolder: string; readonly version: string },
): Promise<{ readonly folder: string; readonly name: string }> {
  const given = resolve(folder)
  const name = packageName(basename(given))
  // A link to an empty folder is as good as the folder.
  const target = await realpath(given).catch(() => given)
  await checkEmpty(target)
  const source = join(templatesFolder, template)
  try {
    await mkdir(target, { recursive: true })
    // Nothing is copied over a link, only into what it leads to.
    const place = await realpath(target)
    await cp(source, place, { recursive: true, force: false })
    // npm takes no .gitignore along into a package.
    await rename(join(place, 'gitignore'), join(place, '.gitignore'))
    const manifest = join(place, 'package.json')
    const text = await readFile(manifest, 'utf8')
    await writeFile(manifest, text.replace('"my-agents"', JSON.stringify(name)).replace('"0.0.0"', `"^${version}"`))
  } catch (thrown) {
    // So that it can be tried again in the same folder.
    for (const written of [...(await readdir(source).catch(() => [])), '.gitignore'])
      await rm(join(target, written), { recursive: true, force: true }).catch(() => {})
    throw new CreateError(`${target} could not be written: ${messageOf(thrown)}`, { cause: thrown })
  }
  return { folder: target, name }
}

async function checkEmpty(target: string): Promise<void> {
  const names = await readdir(target).catch((thrown: unknown) => {
    const { code } = thrown as NodeJS.ErrnoException
    if (code === 'ENOENT') return []
    if (code === 'ENOTDIR') throw new CreateError(`${target} is a file: give another folder.`)
    throw new CreateError(`${target} cannot be read: ${messageOf(thrown)}`, { cause: thrown })
  })
  const inTheWay = names.filter((name) => !harmless.has(name))
  if (inTheWay.length === 0) return
  const some = inTheWay.slice(0, 5).join(', ') + (inTheWay.length > 5 ? ', …' : '')
  throw new CreateError(`${target} is not empty (${some}): give a new folder, or empty this one. Nothing was written.`)
}

/** A name that npm takes, made of that of a folder. */
export function packageName(folderName: string): string {
  const name = folderName
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/[^a-z0-9._~-]+/g, '-')
    .replaceAll(/^[-._]+|(?<!-)-+$/g, '')
    .slice(0, 214)
  return name === '' || name === 'node_modules' || name === 'favicon.ico' ? 'my-agents' : name
}

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))
