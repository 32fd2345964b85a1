import { existsSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { build, type Plugin } from 'vite'
import type { Task } from '../packages/evaluation/src/suite/task.ts'
import { filesBelow } from '../packages/evaluation/src/suite/taskFiles.ts'

const root = join(import.meta.dirname, '..')

/** A door of the package, by its source: suites import it from there, and find it where the package has it. */
const doorOf = (id: string): string | undefined => {
  const path = relative(join(root, 'src'), id).split(sep).join('/')
  return /^\w+\.ts$/.test(path) ? path.replace(/\.ts$/, '.js') : undefined
}

/** Resolves imports of the package in suites to its modules outside of them, two folders up. */
const doorsOutside: Plugin = {
  name: 'doors-outside',
  enforce: 'pre',
  async resolveId(source, importer) {
    if (importer === undefined || !source.startsWith('.')) return null
    const resolved = await this.resolve(source, importer, { skipSelf: true })
    const door = resolved === null ? undefined : doorOf(resolved.id)
    return door === undefined ? null : { id: `../../${door}`, external: true }
  },
}

/** The files of a folder by path, for a task in code. @throws for what such a task cannot have. */
async function textsBelow(folder: string): Promise<Readonly<Record<string, string>>> {
  const texts: Record<string, string> = {}
  for (const file of await filesBelow(folder)) {
    const place = join(folder, file.path)
    if (!('from' in file)) throw new Error(`${place} is a link, which a task in code cannot have.`)
    if (((await stat(file.from)).mode & 0o111) !== 0)
      throw new Error(`${place} is a program, which a task in code cannot have: let its checks start it with node.`)
    texts[file.path] = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(file.from))
  }
  return texts
}

/** The tasks in the folders of a suite, as tasks in code, in the order in which they are read there. */
async function tasksIn(suite: string): Promise<readonly Task[]> {
  const tasks: Task[] = []
  for (const name of (await readdir(suite)).toSorted()) {
    if (/\.ts$|^README\.md$/.test(name)) continue
    const folder = join(suite, name)
    if (!existsSync(join(folder, 'task.json')))
      throw new Error(`${folder} is no task, and would be left out of the package.`)
    const task = JSON.parse(await readFile(join(folder, 'task.json'), 'utf8')) as Omit<Task, 'id'> & Partial<Task>
    tasks.push({
      id: name,
      ...task,
      files: await textsBelow(join(folder, 'files')),
      checkFiles: await textsBelow(join(folder, 'check')),
    })
  }
  return tasks
}

const entry = 'suite-in-one-file'

/** A suite with the tasks of its folder beside those that it has in code. */
const inOneFile = (suite: string, tasks: readonly Task[]): Plugin => ({
  name: entry,
  enforce: 'pre',
  resolveId: (id) => (id === entry ? entry : null),
  load: (id) =>
    id === entry
      ? `import suite from ${JSON.stringify(join(suite, 'suite.ts'))}
export default { ...suite, tasks: [...${JSON.stringify(tasks)}, ...(suite.tasks ?? [])] }`
      : null,
})

/**
 * Makes `suites` of `dist`: for each suite of the repository a folder with one module, since Node runs no TypeScript from a package, and two hundred
 * small files make one slow to install.
 */
export async function bundleSuites(outDir = join(root, 'dist', 'suites'), from = join(root, 'suites')): Promise<void> {
  const names = (await readdir(from)).filter((name) => existsSync(join(from, name, 'suite.ts')))
  for (const name of names) {
    const suite = join(from, name)
    await build({
      configFile: false,
      root,
      logLevel: 'warn',
      plugins: [inOneFile(suite, await tasksIn(suite)), doorsOutside],
      build: {
        ssr: true,
        outDir: join(outDir, name),
        emptyOutDir: false,
        target: 'es2024',
        minify: false,
        rolldownOptions: {
          input: entry,
          output: { entryFileNames: 'suite.js', codeSplitting: false, comments: { jsdoc: false } },
        },
      },
    })
  }
}
