import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { importers } from '../../src/importers/importers.ts'
import { runCli } from '../../../cli/test/cliInProcess.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { fetched } from './suiteRuns.ts'

/** Refusal of an importer for a path that it does not take. */
const refusal = async (name: string, path: string): Promise<string> => {
  try {
    await (await importers[name]!()).read(path)
    return 'it was taken'
  } catch (thrown) {
    return (thrown as Error).message
  }
}

const ctfRow = { task_id: 'a', query: 'Find it.', gold: 'picoCTF{x}' }
const ticket = { id: '0', ticket: 'Help.', user_scenario: { instructions: 'Help.' } }
const names = [
  'x\nglobalThis.wasRun = true //',
  '*/ globalThis.wasRun = true /*',
  '`${globalThis.wasRun = true}`',
  '\u2028x',
  '"',
  "'",
]

describe('a benchmark that others made', (it) => {
  it('has no name in the code of a suite but as a text', async (context) => {
    const actions = names.map((name) => ({ name, arguments: {} }))
    const folder = await fetched(context, {
      'd/policy.md': 'Be strict.',
      'd/tasks.json': [{ ...ticket, evaluation_criteria: { actions } }],
    })
    assert.is((await runCli(context, ['eval', 'import', 'tau2-bench', 'd', '--out', 'out'], { cwd: folder })).code, 0)
    const tools = (await import(pathToFileURL(join(folder, 'out/tools.mjs')).href)) as { called: readonly string[] }
    assert.equal([...tools.called].toSorted(), names.toSorted())
    assert.not.ok('wasRun' in globalThis)
  })

  it('brings nothing that a link leads to outside of it', async (context) => {
    const folder = await fetched(context, {
      'secret/key': 'private',
      'ctf/ic_ctf.json': [ctfRow],
      'tau/tasks.json': [ticket],
      'tb/task/task.toml': '',
      'tb2/task/task.toml': '',
      'tb2/task/instruction.md': 'Do it.',
      'tb3/task/task.yaml': 'instruction: Do it.',
      'tb4/task/task.toml': '',
      'tb4/task/instruction.md': 'Do it.',
      'tb4/task/tests/test.sh': 'true',
    })
    const link = async (to: string, at: string): Promise<void> => {
      await mkdir(dirname(join(folder, at)), { recursive: true })
      await symlink(join(folder, to), join(folder, at))
    }
    await link('secret', 'ctf/task_assets/a')
    await link('secret/key', 'tau/policy.md')
    await link('secret/key', 'tb/task/instruction.md')
    await link('secret', 'tb2/task/tests')
    await link('secret/key', 'tb3/task/run-tests.sh')
    await link('secret/key', 'tb4/task/tests/key')
    for (const [name, path] of [
      ['intercode', 'ctf/ic_ctf.json'],
      ['tau2-bench', 'tau'],
      ['terminal-bench', 'tb'],
      ['terminal-bench', 'tb2'],
      ['terminal-bench', 'tb3'],
      ['terminal-bench', 'tb4'],
    ] as const)
      assert.match(await refusal(name, join(folder, path)), /outside/, path)
  })

  it('has no task whose name leads elsewhere, and no test that is an option', async (context) => {
    const row = {
      instance_id: 'x',
      repo: 'a/b',
      base_commit: 'a'.repeat(40),
      problem_statement: 'It breaks.',
      test_patch: 'diff --git a/--rootdir=/etc b/--rootdir=/etc\n',
      FAIL_TO_PASS: [],
      PASS_TO_PASS: [],
    }
    const folder = await fetched(context, {
      'verified.jsonl': JSON.stringify(row),
    })
    assert.match(await refusal('swe-bench', join(folder, 'verified.jsonl')), 'names a file that is an option')
    for (const id of ['..', '../secret', 'a/b', '.', '', '-x', 'a\nb']) {
      await writeFile(join(folder, 'ic_ctf.json'), JSON.stringify([{ ...ctfRow, task_id: id }]))
      assert.match(await refusal('intercode', join(folder, 'ic_ctf.json')), 'is no number or plain name', id)
    }
  })
})
