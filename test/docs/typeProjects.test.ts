import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { promisify } from 'node:util'
import { assert, describe } from '../support/suite.ts'

const repository = join(import.meta.dirname, '..', '..')
const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>
}
const typeScripts = Object.keys(scripts).filter((name) => /^types(?::|$)/.test(name))

/** The file of a project, from the root; a word of a script that names none gives `undefined`. */
const projectOf = (word: string): string | undefined =>
  [word, posix.join(word, 'tsconfig.json')].find((path) => path.endsWith('.json') && existsSync(join(repository, path)))

/** The projects that one of the scripts names, and those they refer to. */
const projects = new Set(
  typeScripts.flatMap((name) => scripts[name]!.split(' ')).flatMap((word) => projectOf(word) ?? []),
)
for (const project of projects) {
  const { references = [] } = JSON.parse(readFileSync(join(repository, project), 'utf8')) as {
    readonly references?: readonly { readonly path: string }[]
  }
  for (const { path } of references) projects.add(projectOf(posix.join(posix.dirname(project), path))!)
}

/** Sources that no project has: code of others' projects, what needs packages that are not installed, and what Astro checks. */
const apart =
  /\/sample-project\/|^create-escapement\/templates\/|^suites\/[^/]+\/[^/]+\/(?:files|check)\/|^tools\/bench\/peers\/contenders\/|^tools\/site\/theme\/|\/node_modules\/|\/\.[^/]+\//

async function sources(): Promise<readonly string[]> {
  const folders = ['src', 'packages', 'test', 'examples', 'suites', 'scripts', 'tools', 'create-escapement']
  const found = folders.map(async (folder) =>
    (await readdir(join(repository, folder), { recursive: true })).map((name) =>
      posix.join(folder, name.replaceAll('\\', '/')),
    ),
  )
  return (await Promise.all(found)).flat().filter((path) => /\.tsx?$/.test(path) && !apart.test(path))
}

async function filesOf(project: string): Promise<readonly string[]> {
  const tsc = join(repository, 'node_modules', 'typescript', 'bin', 'tsc')
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, '--showConfig', '-p', project], {
    cwd: repository,
    maxBuffer: 16 * 1024 * 1024,
  })
  const { files } = JSON.parse(stdout) as { readonly files: readonly string[] }
  return files.map((file) => posix.join(posix.dirname(project), file)).filter((path) => !apart.test(path))
}

describe('the projects of the compiler', (it) => {
  it('have each source, and none has one of another', { timeoutMs: 30_000 }, async () => {
    const had = (await Promise.all([...projects].map(filesOf))).flat()
    const lone = (await sources()).filter((path) => !had.includes(path))
    assert.equal(lone, [], 'no script called types has these in a project')
    assert.equal(
      had.filter((path, index) => had.indexOf(path) !== index),
      [],
      'two projects have these',
    )
  })

  it('are all checked by npm run check', () => {
    const checked = scripts['check']!.split(' && ')
    assert.equal(
      typeScripts.filter((name) => !checked.includes(`npm run ${name}`)),
      [],
    )
  })
})
