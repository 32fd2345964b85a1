import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { readSuite } from '../src/suite/readSuite.ts'
import { projectFolder } from '../../cli/test/cliChild.ts'
import { withCode } from '../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'

const good = '{ "prompts": ["Do it."], "check": "true" }'

const suiteIn = (context: CaseContext, files: Readonly<Record<string, string>>): string =>
  projectFolder(context, Object.fromEntries(Object.entries(files).map(([path, text]) => [`suites/mini/${path}`, text])))

/** Messages about a suite with one task, without the folder that it is in. */
async function saidOf(context: CaseContext, files: Readonly<Record<string, string>>): Promise<string> {
  const root = suiteIn(context, files)
  const thrown = (await assert.rejects(readSuite('suites/mini', root), withCode('INVALID_OPTION'))) as Error
  return thrown.message.replaceAll(`${root}/suites/mini/`, '')
}

describe('a suite in a folder', (it) => {
  it('has a task for each folder with a task.json, named like the folder unless it says otherwise', async (context) => {
    const root = suiteIn(context, {
      'b/task.json': good,
      'a/task.json':
        '{ "id": "first", "prompts": ["One.", "Two."], "setup": "ls", "check": ["ls", { "answer": "two" }], "tags": ["x"] }',
      'a/files/src/one.js': '1',
      'a/check/test.js': '2',
      'notes/readme.md': 'no task',
    })
    const { name, tasks } = await readSuite('suites/mini', root)
    assert.is(name, 'mini')
    assert.equal(
      tasks.map(({ id }) => id),
      ['first', 'b'],
    )
    const [first] = tasks
    assert.equal(first!.setup, ['ls'])
    assert.equal(first!.checks, [{ command: 'ls' }, { answer: 'two' }])
    assert.equal(
      [first!.files.map(({ path }) => path), first!.checkFiles.map(({ path }) => path)],
      [['src/one.js'], ['test.js']],
    )
  })

  it('has another digest as soon as a byte, a name or a mode of its files is another', async (context) => {
    const digestOf = async (files: Readonly<Record<string, string>>): Promise<string> =>
      (await readSuite('suites/mini', suiteIn(context, files))).digest
    const one = await digestOf({ 'a/task.json': good, 'a/files/x': '1' })
    assert.is(await digestOf({ 'a/task.json': good, 'a/files/x': '1' }), one)
    const others = await Promise.all([
      digestOf({ 'a/task.json': good, 'a/files/x': '2' }),
      digestOf({ 'a/task.json': good, 'a/files/y': '1' }),
      digestOf({ 'a/task.json': `${good} `, 'a/files/x': '1' }),
    ])
    assert.is(new Set([one, ...others]).size, 4)
  })

  it('has all that a task brings in its digest, and what is installed beside tasks not', async (context) => {
    const digestOf = async (files: Readonly<Record<string, string>>): Promise<string> =>
      (await readSuite('suites/mini', suiteIn(context, { 'a/task.json': good, ...files }))).digest
    const brought = [
      'a/check/node_modules/dep/c.sh',
      'a/check/.git/hook',
      'a/files/.escapement/x',
      'a/files/node_modules/x',
    ]
    for (const path of brought)
      assert.is.not(await digestOf({ [path]: 'exit 1' }), await digestOf({ [path]: 'exit 0' }), path)
    const none = await digestOf({})
    for (const path of [
      'node_modules/dep/x.js',
      '.git/HEAD',
      '.escapement/evals/1',
      'node_modules/task.json',
      'a/.git/HEAD',
    ])
      assert.is(await digestOf({ [path]: good }), none, path)
  })

  it('says file, line and key of what is wrong, and what may be meant', async (context) => {
    const source =
      '{\n  "prompts": ["Do it."],\n  "limits": { "turn": 3 },\n  "check": { "command": "true", "timeout": 4 }\n}'
    assert.is(
      await saidOf(context, { 'a/task.json': source }),
      'a/task.json:3: "turn" is not known; did you mean "turns"?\na/task.json:4: "timeout" is not known; did you mean "timeoutMs"?',
    )
  })

  it('says the line of what is no JSON', async (context) => {
    assert.match(
      await saidOf(context, { 'a/task.json': '{\n  "prompts": ["x"],\n  check: 1\n}' }),
      /^a\/task\.json:3: this is not JSON: /,
    )
  })

  it('says that a folder would be left out, and where its files belong', async (context) => {
    const task = '{ "prompts": ["x"], "check": { "command": "true" } }'
    assert.match(
      await saidOf(context, { 'a/task.json': task, 'a/workspace/x.js': '', 'a/.cache/y': '', 'a/README.md': '' }),
      /^a\/workspace is no folder of a task: what a trial begins with goes into "files", what only checks see into "check"\.$/,
    )
  })

  it('refuses a check of no kind, one of a wrong kind, and a pattern that is none', async (context) => {
    const of = (check: string): Promise<string> =>
      saidOf(context, { 'a/task.json': `{ "prompts": ["x"], "check": ${check} }` })
    assert.is(
      await of('{ "comand": "ls" }'),
      'a/task.json:1: check: a check has one of: command, json, answer, judge, scorer, file.',
    )
    assert.match(await of('7'), /check: give a command, or an object/)
    assert.match(await of('[]'), /check: is empty/)
    assert.match(await of('{ "answer": { "matches": "(" } }'), /check\.answer\.matches: is not a regular expression/)
    assert.match(await of('{ "file": "../out.txt" }'), /check\.file: give a path inside the folder/)
    assert.match(await of('{ "file": "/etc/passwd" }'), /check\.file: give a path inside the folder/)
    assert.match(
      await of('{ "json": { "type": "nonsense" } }'),
      /a\/task\.json:1: check\.json: is not a JSON Schema that can be checked: what its schema says at \/type cannot be read/,
    )
    assert.match(await of('[{ "json": { "$ref": "#/$defs/none" } }]'), /check\.0\.json: is not a JSON Schema/)
  })

  it('refuses two tasks of one id, and names both', async (context) => {
    const said = await saidOf(context, {
      'a/task.json': '{ "id": "b", "prompts": ["x"], "check": "true" }',
      'b/task.json': good,
    })
    assert.is(said, 'b/task.json: id: "b" is the id of a/task.json, too: give each its own.')
  })

  it('refuses a folder without tasks', async (context) => {
    assert.match(await saidOf(context, { 'readme.md': '' }), /mini has no task: each is a folder with a task\.json/)
  })

  it('that is not there is answered with those that are', async (context) => {
    const root = suiteIn(context, { 'a/task.json': good })
    mkdirSync(join(root, 'suites/other'))
    await assert.rejects(
      readSuite('suites/mimi', root),
      /There is no suite suites\/mimi\. Did you mean suites\/mini\? There are: suites\/mini\./,
    )
    await assert.rejects(readSuite('suites/mini/a/task.json', root), /is a file: a suite is a folder/)
  })

  it('refuses a link that leads out of it, and takes one that stays inside as it is', async (context) => {
    const root = suiteIn(context, { 'a/task.json': good, 'a/files/one': '1' })
    const files = join(root, 'suites/mini/a/files')
    symlinkSync('one', join(files, 'two'))
    symlinkSync('.', join(files, 'loop'))
    const [task] = (await readSuite('suites/mini', root)).tasks
    assert.equal(
      task!.files.map((file) => ('link' in file ? [file.path, file.link] : [file.path])),
      [['loop', '.'], ['one'], ['two', 'one']],
    )
    symlinkSync('/etc/hostname', join(files, 'three'))
    await assert.rejects(readSuite('suites/mini', root), /three is a link to \/etc\/hostname, which lies outside/)
  })

  it('may have a module, whose fields and scorers are checked', async (context) => {
    const module = (text: string): Readonly<Record<string, string>> => ({
      'a/task.json': '{ "prompts": ["x"], "check": { "scorer": "shrot" } }',
      'suite.js': text,
      'package.json': '{ "type": "module" }',
    })
    assert.match(
      await saidOf(context, module('export default { scorers: { short: () => true } }')),
      /a\/task\.json: check: there is no scorer "shrot"; did you mean "short"\?/,
    )
    assert.match(
      await saidOf(context, module('export default {\n  scorer: {},\n}')),
      /suite\.js:2: "scorer" is not known; did you mean "scorers"\?/,
    )
    assert.match(await saidOf(context, module('export const suite = {}')), /suite\.js has no default export/)
  })

  it('has answers that people judged, a line each', async (context) => {
    const judged = (line: string): Readonly<Record<string, string>> => ({
      'a/task.json': '{ "prompts": ["x"], "check": { "judge": "It is kind." } }',
      'judge.jsonl': `{ "judge": "It is kind.", "task": "a", "answer": "Dear Ada", "passed": true }\n${line}\n`,
    })
    const { judged: examples } = await readSuite('suites/mini', suiteIn(context, judged('')))
    assert.equal(examples, [{ judge: 'It is kind.', prompts: ['x'], answer: 'Dear Ada', passed: true, min: 0.5 }])
    assert.match(await saidOf(context, judged('{ "judge": "x" ')), /judge\.jsonl:2: this is not JSON/)
    assert.match(
      await saidOf(context, judged('{ "judge": "x", "answer": "y", "passed": "yes" }')),
      /judge\.jsonl:2: passed:/,
    )
    assert.match(
      await saidOf(context, judged('{ "judge": "x", "task": "b", "answer": "y", "passed": true }')),
      /judge\.jsonl:2: task: there is no task "b"/,
    )
  })
})
