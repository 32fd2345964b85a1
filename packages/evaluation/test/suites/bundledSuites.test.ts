import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundleSuites } from '../../../../scripts/bundleSuites.ts'
import { readSuite } from '../../src/suite/readSuite.ts'
import type { Suite } from '../../src/suite/suite.ts'
import type { TaskFile } from '../../src/suite/taskFiles.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { evaluated, scratchFolder, suiteNames, suiteOf } from './suiteRuns.ts'

const repository = join(import.meta.dirname, '..', '..', '..', '..')

const contentOf = async (file: TaskFile): Promise<readonly [string, unknown]> => [
  file.path,
  'from' in file ? await readFile(file.from, 'utf8') : 'text' in file ? file.text : { link: file.link },
]

/** All of a suite's tasks, wherever their files are. */
const tasksOf = ({ tasks }: Suite): Promise<readonly unknown[]> =>
  Promise.all(
    tasks.map(async ({ files, checkFiles, ...task }) => ({
      ...task,
      files: Object.fromEntries(await Promise.all(files.map(contentOf))),
      checkFiles: Object.fromEntries(await Promise.all(checkFiles.map(contentOf))),
    })),
  )

/** The suites as the package has them, where their doors lead to the sources. */
async function bundled(context: Pick<CaseContext, 'cleanup'>): Promise<string> {
  const folder = await scratchFolder(context)
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  for (const door of ['index', 'testing'])
    await writeFile(
      join(folder, `${door}.js`),
      `export * from '${pathToFileURL(join(repository, 'src', `${door}.ts`)).href}'`,
    )
  await bundleSuites(join(folder, 'suites'))
  return join(folder, 'suites')
}

describe('the suites in the package', (it) => {
  it('are one module each, with all tasks of the folder', { timeoutMs: 30_000 }, async (context) => {
    const folder = await bundled(context)
    for (const name of suiteNames) {
      const [made, source] = [await readSuite(join(folder, name), '/'), await suiteOf(name)]
      assert.equal(await tasksOf(made), await tasksOf(source), name)
      assert.equal(
        Object.keys(made.definition).filter((key) => key !== 'tasks'),
        Object.keys(source.definition),
      )
    }
    const { results } = await evaluated(context, await readSuite(join(folder, 'retention'), '/'), {
      arms: ['fold'],
      trials: 1,
      tasks: ['one-needle'],
    })
    assert.equal(
      results.map(({ outcome }) => outcome),
      ['passed'],
    )
  })

  it('have those of the module too, and nothing that a module cannot hold', async (context) => {
    const from = await scratchFolder(context)
    const files = join(from, 'own', 'first', 'files')
    await mkdir(files, { recursive: true })
    await writeFile(join(from, 'own', 'suite.ts'), `export default { tasks: [{ id: 'second', prompts: ['Stay.'] }] }`)
    const fails = (what: RegExp): Promise<unknown> => assert.rejects(bundleSuites(join(from, 'made'), from), what)
    await fails(/first is no task/)
    await writeFile(join(from, 'own', 'first', 'task.json'), '{ "prompts": ["Go."], "check": "true" }')
    await bundleSuites(join(from, 'made'), from)
    assert.equal(
      (await readSuite(join(from, 'made', 'own'), '/')).tasks.map(({ id }) => id),
      ['first', 'second'],
    )
    await writeFile(join(files, 'image'), Buffer.from([0xff, 0xfe, 0x80]))
    await fails(/encoded data was not valid/)
    await writeFile(join(files, 'image'), '#!/bin/sh')
    await chmod(join(files, 'image'), 0o755)
    await fails(/is a program/)
  })
})
