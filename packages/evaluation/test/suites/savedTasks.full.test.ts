import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { pathToFileURL } from 'node:url'
import { workspaceTools } from '../../../tools/src/workspace/workspaceTools.ts'
import { recordedSuite } from '../../src/recordedSuite.ts'
import type { SuiteDefinition } from '../../src/suite/defineSuite.ts'
import type { Suite } from '../../src/suite/suite.ts'
import type { Report } from '../../src/report/report.ts'
import { readSuite } from '../../src/suite/readSuite.ts'
import { suiteTask, textFiles } from '../../src/suite/suite.ts'
import { taskOf } from '../../../page/src/inspector/model/shell/takeOut.ts'
import { suiteSource } from '../../../sessions/src/savedTask.ts'
import type { ScriptedReply } from '../../src/testing/scriptedModel.ts'
import { cleanEnv } from '../../../cli/test/cliChild.ts'
import { endedCli, runCli } from '../../../cli/test/cliInProcess.ts'
import { logFile, recordsIn, recordSession } from '../../../cli/test/cliSessions.ts'
import { anywhere, random, secretWith, told } from '../../../../test/support/awkwardSecrets.ts'
import { someRuns } from '../../../../test/support/seeds.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { evaluated, scratchFolder } from './suiteRuns.ts'

const call = (name: string, input: object): ScriptedReply => ({ toolCalls: [{ name, input }] })

/** A project in which an agent has worked: an edit, an overwritten file, a new one, one with a secret. */
async function worked(
  context: CaseContext,
  { snapshots = false, replies }: { readonly snapshots?: boolean; readonly replies?: readonly ScriptedReply[] } = {},
): Promise<string> {
  const folder = await scratchFolder(context)
  await writeFile(join(folder, 'a.txt'), 'one\ntwo\n')
  await writeFile(join(folder, 'b.txt'), 'before\n')
  await writeFile(join(folder, 'keys.txt'), 'the key is sk-abcdefghijklmnop1234567890\n')
  await writeFile(join(folder, '.env'), 'TOKEN=1\n')
  await mkdir(join(folder, 'node_modules'))
  await writeFile(join(folder, 'node_modules/x.js'), '')
  await recordSession(folder, {
    id: 's1',
    prompts: ['Change them.'],
    tools: workspaceTools(folder, { snapshots }),
    replies: replies ?? [
      call('edit_file', { path: 'a.txt', oldText: 'two', newText: 'three' }),
      call('write_file', { path: 'b.txt', content: 'after\n' }),
      call('write_file', { path: './new/c.txt', content: 'new\n' }),
      call('read_file', { path: 'missing.txt' }),
      'I changed them.',
    ],
  })
  return folder
}

/** A suite that was saved in a project, where the package is installed. */
async function savedSuite(project: string, tasks = 'tasks'): Promise<Suite> {
  const installed = join(project, 'node_modules', 'escapement')
  const door = pathToFileURL(join(import.meta.dirname, '..', '..', '..', '..', 'src', 'testing.ts')).href
  await mkdir(installed, { recursive: true })
  await writeFile(join(installed, 'package.json'), '{ "type": "module", "exports": { "./testing": "./testing.js" } }')
  await writeFile(join(installed, 'testing.js'), `export * from ${JSON.stringify(door)}`)
  return readSuite(join(project, tasks), '/')
}

/** Changes that tools made in a file, having seen it. */
const histories = ['read, then written', 'written', 'edited', 'read, then deleted'] as const

/** Paths of files that hold secrets, of others, and of a link to one that does. */
const places = ['.env', 'deep/.env.local', 'id_rsa', 'certs/Server.PEM', 'conf.js', 'linked.txt'] as const

function callsOf(path: string, how: (typeof histories)[number], text: string): readonly ScriptedReply[] {
  const read = call('read_file', { path })
  if (how === 'written') return [call('write_file', { path, content: 'EMPTY=' })]
  if (how === 'edited') return [call('edit_file', { path, oldText: text, newText: 'EMPTY=' })]
  if (how === 'read, then deleted') return [read, call('delete_file', { path })]
  return [read, call('write_file', { path: `./${path}`, content: 'EMPTY=' })]
}

/** All that a task says, file by file. */
async function allOf(folder: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return new Map(await Promise.all(files.map(async (file) => [file, await readFile(file, 'utf8')] as const)))
}

describe('a session that is saved as a task', (it) => {
  it(
    'has no secret of its workspace, whatever files were before and however that is known',
    { timeoutMs: 120_000 },
    async (context) => {
      const history = fc.record({
        // A key is known by its shape, in any file; a password only by the file that it stands in.
        key: random.map((letters) => `sk-ant-1${letters}0${letters}`),
        password: secretWith(anywhere),
        how: fc.tuple(...places.map(() => fc.constantFrom(...histories))),
        snapshots: fc.boolean(),
      })
      await fc.assert(
        fc.asyncProperty(history, async ({ key, password, how, snapshots }) => {
          const folder = await scratchFolder(context)
          const textOf = (path: string): string => (path === 'conf.js' ? `const key = '${key}'` : `TOKEN=${password}`)
          for (const path of ['deep', 'certs', 'kept']) await mkdir(join(folder, path))
          for (const path of places) if (path !== 'linked.txt') await writeFile(join(folder, path), textOf(path))
          await writeFile(join(folder, 'kept/.env'), textOf('kept/.env'))
          await symlink('kept/.env', join(folder, 'linked.txt'))
          await recordSession(folder, {
            id: 's1',
            prompts: ['Change them.'],
            tools: workspaceTools(folder, { snapshots }),
            replies: [...places.flatMap((path, at) => callsOf(path, how[at]!, textOf(path))), 'Done.'],
          })
          const args = ['export', 's1', '--task', 'tasks', '--dir', '.', '--json']
          const { code, stdout, stderr } = await runCli(context, args, { cwd: folder })
          assert.is(code, 0, stderr)
          const secrets = [key, ...password.split(/[^qxzjkvwQXZJKVW]/)]
          const pieces = secrets.map((secret) => secret.slice(-told)).filter((piece) => piece.length === told)
          for (const [file, text] of await allOf(join(folder, 'tasks')))
            for (const piece of pieces) assert.not.ok(text.includes(piece), `${file} (${stdout}): ${text}`)
        }),
        { seed: 20_261_124, numRuns: someRuns(60) },
      )
    },
  )

  it('names files of secrets that are gone by now, and none that it does not have', async (context) => {
    const dir = await worked(context, {
      snapshots: true,
      replies: [
        call('delete_file', { path: '.env' }),
        call('write_file', { path: 'id_rsa', content: 'mine' }),
        call('write_file', { path: 'keys.txt', content: 'none' }),
        'Done.',
      ],
    })
    const { stdout } = await runCli(context, ['export', 's1', '--task', 'tasks', '--dir', '.', '--json'], { cwd: dir })
    assert.equal((await readdir(join(dir, 'tasks/s1/files'))).toSorted(), ['a.txt', 'b.txt', 'keys.txt'])
    assert.is(await readFile(join(dir, 'tasks/s1/files/keys.txt'), 'utf8'), 'the key is [redacted]\n')
    assert.equal((JSON.parse(stdout) as { notes: string[] }).notes.slice(0, 2), [
      'left out, as they may hold secrets: id_rsa, .env',
      'with keys blanked: keys.txt',
    ])
  })

  it('has no file that was too large before', { timeoutMs: 30_000 }, async (context) => {
    const dir = await scratchFolder(context)
    await writeFile(join(dir, 'big.txt'), 'x'.repeat(2 * 1024 * 1024 + 1))
    await recordSession(dir, {
      id: 's1',
      prompts: ['Empty it.'],
      tools: workspaceTools(dir, { snapshots: true }),
      replies: [call('write_file', { path: 'big.txt', content: '' }), 'Done.'],
    })
    const { stdout } = await runCli(context, ['export', 's1', '--task', 'tasks', '--dir', '.', '--json'], { cwd: dir })
    assert.match(stdout, 'left out, as there is too much: big.txt')
    assert.equal(await readdir(join(dir, 'tasks/s1/files')), [])
  })

  it('has the files that it began with, and fails as it was recorded', { timeoutMs: 30_000 }, async (context) => {
    const dir = await worked(context)
    const { code, stdout, stderr } = await runCli(
      context,
      ['export', 's1', '--task', 'tasks', '--dir', '.', '--json'],
      { cwd: dir },
    )
    assert.is(code, 0, stderr)
    const said = JSON.parse(stdout) as { files: number; notes: string[] }
    const files = join(dir, 'tasks/s1/files')
    assert.equal((await readdir(files)).toSorted(), ['a.txt', 'b.txt', 'keys.txt'])
    assert.is(await readFile(join(files, 'a.txt'), 'utf8'), 'one\ntwo\n')
    // It was overwritten unseen, and nothing was kept.
    assert.is(await readFile(join(files, 'b.txt'), 'utf8'), 'after\n')
    assert.is(await readFile(join(files, 'keys.txt'), 'utf8'), 'the key is [redacted]\n')
    const notes = said.notes.join('\n')
    for (const note of [
      'left out, as they may hold secrets: .env',
      'with keys blanked: keys.txt',
      'as they are now, and not as they were before: b.txt',
    ])
      assert.match(notes, note)
    const task = JSON.parse(await readFile(join(dir, 'tasks/s1/task.json'), 'utf8')) as object
    assert.equal(task, {
      prompts: ['Change them.'],
      check: { scorer: 'calls-succeed', tool: 'read_file' },
      tags: ['recorded'],
    })
    const { results } = await evaluated(context, await savedSuite(dir), { arms: ['off'], trials: 1 })
    assert.equal(
      results.map(({ outcome, answer, scores }) => [outcome, answer, scores[0]!.reason]),
      [['failed', 'I changed them.', '1 of 1 calls of read_file failed']],
    )
  })

  it('says how to see it fail as it was recorded, whatever keys are set', { timeoutMs: 30_000 }, async (context) => {
    const dir = await worked(context)
    const { stdout } = await endedCli(context, ['export', 's1', '--task', 'my tasks', '--dir', dir], {
      cwd: dir,
      env: cleanEnv(dir),
      isTerminal: true,
    })
    assert.match(stdout, "then: escapement eval 'my tasks' --model embedded\n")
    await savedSuite(dir, 'my tasks')
    const args = ['eval', 'my tasks', '--model', 'embedded', '--no-config']
    const { code, stdout: report } = await endedCli(context, args, {
      cwd: dir,
      env: { ...cleanEnv(dir), ESCAPEMENT_MODEL: 'anthropic:claude-sonnet-5-5', ANTHROPIC_API_KEY: 'x' },
    })
    assert.is(code, 0)
    const [arm] = (JSON.parse(report) as Report).arms
    assert.match(arm!.model, /^embedded/)
    assert.is(arm!.passAt1.value, 0)
  })

  it('takes overwritten files from what snapshots kept', { timeoutMs: 30_000 }, async (context) => {
    const dir = await worked(context, { snapshots: true })
    const { stdout } = await runCli(context, ['export', 's1', '--task', 'tasks', '--dir', '.', '--json'], { cwd: dir })
    assert.not.match(stdout, 'as they are now')
    assert.is(await readFile(join(dir, 'tasks/s1/files/b.txt'), 'utf8'), 'before\n')
  })

  it('takes them from what was read before, too', { timeoutMs: 30_000 }, async (context) => {
    const dir = await worked(context, {
      replies: [
        call('read_file', { path: 'b.txt' }),
        call('write_file', { path: 'b.txt', content: 'after\n' }),
        'Done.',
      ],
    })
    await runCli(context, ['export', 's1', '--task', 'tasks', '--dir', '.'], { cwd: dir })
    assert.is(await readFile(join(dir, 'tasks/s1/files/b.txt'), 'utf8'), 'before\n')
  })

  it('turns edits of a file round, the newest first', { timeoutMs: 30_000 }, async (context) => {
    const dir = await worked(context, {
      replies: [
        call('edit_file', { path: 'a.txt', oldText: 'two', newText: 'three' }),
        call('edit_file', { path: 'a.txt', oldText: 'three', newText: 'four' }),
        'Done.',
      ],
    })
    assert.is(await readFile(join(dir, 'a.txt'), 'utf8'), 'one\nfour\n')
    await runCli(context, ['export', 's1', '--task', 'tasks', '--dir', '.'], { cwd: dir })
    assert.is(await readFile(join(dir, 'tasks/s1/files/a.txt'), 'utf8'), 'one\ntwo\n')
  })

  it('passes once an agent does better, and others can be saved beside it', { timeoutMs: 30_000 }, async (context) => {
    const dir = await worked(context)
    await recordSession(dir, { id: 's2', prompts: ['What is 2 + 2?'], replies: ['5'] })
    await runCli(context, ['export', 's1', '--task', 'tasks', '--dir', '.'], { cwd: dir })
    const { code } = await runCli(context, ['export', 's2', '--task', 'tasks', '--dir', '.', '--expect', '4'], {
      cwd: dir,
    })
    assert.is(code, 0)
    const suite = await savedSuite(dir)
    const { policyModel } = await import('../../../models/src/policyModel.ts')
    const better = policyModel(() => 'It is 4.', { id: 'embedded:better' })
    const made = await evaluated(context, suite, { arms: ['off'], trials: 1, model: better })
    assert.equal(
      made.results.map(({ task, outcome }) => [task, outcome]),
      [
        ['s1', 'passed'],
        ['s2', 'passed'],
      ],
    )
    const again = await evaluated(context, suite, { arms: ['off'], trials: 1 })
    assert.equal(
      again.results.map(({ outcome }) => outcome),
      ['failed', 'failed'],
    )
  })

  it('is not written over, and a mistake leaves nothing', { timeoutMs: 30_000 }, async (context) => {
    const dir = await worked(context)
    await runCli(context, ['export', 's1', '--task', 'tasks'], { cwd: dir })
    const cases: readonly (readonly [args: readonly string[], says: string])[] = [
      [['s1', '--task', 'tasks'], 'it is there already'],
      [['s1', '--task', 'other', '--test'], 'Give one of --jsonl, --markdown, --html, --test and --task.'],
      [['s1', '--task', 'other', '--out', 'x'], 'leave --out out'],
      [['s1', '--task', 'other', '--expect', ' '], '--expect is empty'],
      [['s9', '--task', 'other'], 'There is no session "s9"'],
      [['s1', '--task', 'a.txt'], 'cannot be written'],
    ]
    for (const [args, says] of cases) {
      const { code, stderr } = await runCli(context, ['export', ...args], { cwd: dir })
      assert.is.not(code, 0, says)
      assert.match(stderr, says)
    }
    assert.not.ok((await readdir(dir)).includes('other'))
  })

  it(
    'says so when no files go with it, and its tools give what was recorded',
    { timeoutMs: 30_000 },
    async (context) => {
      const dir = await scratchFolder(context)
      await recordSession(dir, {
        id: 's1',
        prompts: ['Look.'],
        replies: [call('look', { seen: 'a bird' }), 'I saw a bird.'],
      })
      const { stdout } = await runCli(context, ['export', 's1', '--task', 'tasks', '--json'], { cwd: dir })
      assert.match(stdout, 'no files go with it: say with --dir')
      const { results } = await evaluated(context, await savedSuite(dir), { arms: ['off'], trials: 1 })
      assert.equal(
        results.map(({ outcome, answer }) => [outcome, answer]),
        [['failed', 'I saw a bird.']],
      )
      assert.match(results[0]!.scores[0]!.reason!, 'the answer is what it was')
    },
  )

  it('is one module when it is taken out of the page', { timeoutMs: 30_000 }, async (context) => {
    const dir = await scratchFolder(context)
    await recordSession(dir, {
      id: 's1',
      prompts: ['Look: */ `${1}`'],
      replies: [call('look', { seen: 'a bird' }), 'I saw a bird.'],
    })
    const made = taskOf({ agentId: 's1', past: [], records: recordsIn(logFile(dir, 's1')) }, 'a cat')
    if (!made.ok) throw new Error(made.why)
    const door = pathToFileURL(join(import.meta.dirname, '..', '..', '..', '..', 'src', 'testing.ts')).href
    await writeFile(join(dir, 'suite.mjs'), suiteSource(made).replace("'escapement/testing'", JSON.stringify(door)))
    const { default: definition } = (await import(pathToFileURL(join(dir, 'suite.mjs')).href)) as {
      default: SuiteDefinition
    }
    const tasks = definition.tasks!.map((task) => suiteTask(task, textFiles(), textFiles()))
    const suite: Suite = { name: 'saved', digest: 'x', tasks, definition, judged: [] }
    const { results } = await evaluated(context, suite, { arms: ['off'], trials: 1 })
    assert.equal(
      results.map(({ task, outcome, answer }) => [task, outcome, answer]),
      [['s1', 'failed', 'I saw a bird.']],
    )
  })

  it('names a recording that cannot be read', async (context) => {
    const dir = await scratchFolder(context)
    await mkdir(join(dir, 't'))
    await writeFile(join(dir, 't/recording.json'), '{ "type": "taskRecording", "version": 2 }')
    assert.throws(
      () => recordedSuite(dir),
      (thrown) => /t\/recording\.json: .*another version/.test((thrown as Error).message),
    )
  })
})
