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

/** Folders that one of the scripts names and that have a project. */
const projects = typeScripts
  .flatMap((name) => scripts[name]!.split(' '))
  .filter((word) => existsSync(join(repository, word, 'tsconfig.json')))

/** Sources that no project has: code of others' projects, what needs packages that are not installed, and what Astro checks. */
const apart =
  /\/sample-project\/|^create-escapement\/templates\/|^suites\/[^/]+\/[^/]+\/(?:files|check)\/|^tools\/bench\/peers\/contenders\/|^tools\/site\/theme\/|\/node_modules\/|\/\.[^/]+\//

async function sources(): Promise<readonly string[]> {
  const folders = ['src', 'test', 'examples', 'suites', 'scripts', 'tools', 'create-escapement']
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
  return files.map((file) => posix.join(project, file)).filter((path) => !apart.test(path))
}

describe('the projects of the compiler', (it) => {
  it('have each source, and none has one of another', { timeoutMs: 30_000 }, async () => {
    const had = (await Promise.all(projects.map(filesOf))).flat()
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
