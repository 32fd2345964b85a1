import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  chmodSync,
} from 'node:fs'
import { join } from 'node:path'
import { defineAgent, policyModel, type ModelRequest } from '../../../../src/index.ts'
import { evaluate, type EvaluateOptions, type Task } from '../../../../src/testing.ts'
import { layFiles, layOver, removeFolder } from '../../src/trials/workspace.ts'
import type { TrialGiven } from '../../src/suite/defineSuite.ts'
import { projectFolder } from '../../../cli/test/cliChild.ts'
import { untilDead } from '../../../../test/support/livingProcess.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

/** An agent that runs one command for each prompt. */
const running = ({ model, tools }: TrialGiven) => defineAgent({ name: 'shell', model, tools })
const shell = policyModel((request: ModelRequest) => {
  const last = request.messages.at(-1)!
  if (last.role === 'toolResult') return `It said ${JSON.stringify(last.content)}`
  const said = last.content.find((block) => block.type === 'text') as { text: string }
  return { toolCalls: [{ name: 'run_command', input: { command: said.text } }] }
})

const one = async (task: Task, options: EvaluateOptions = {}) =>
  (await evaluate(running, [task], {}, { model: shell, ...options })).results[0]!

describe('the folder of a trial', (it) => {
  it('begins with the files of the task, after its setup', async () => {
    const { outcome } = await one({
      id: 'setup',
      prompts: ['cp built.txt copy.txt'],
      files: { 'src/in.txt': 'abc' },
      setup: ['cat src/in.txt > built.txt', 'echo def >> built.txt'],
      check: { file: 'copy.txt', equals: 'abcdef\n' },
    })
    assert.is(outcome, 'passed')
  })

  it('is checked with hidden files, which an agent can neither see nor change', async () => {
    const hidden = { 'test/check.sh': 'grep -q right answer.txt' }
    const task = (prompt: string): Task => ({
      id: 'hidden',
      prompts: [prompt],
      checkFiles: hidden,
      files: { 'answer.txt': 'wrong' },
      check: 'sh test/check.sh',
    })
    assert.match((await one(task('ls test'))).answer, /No such file/)
    assert.is((await one(task('mkdir test; echo "exit 0" > test/check.sh; chmod 400 test/check.sh'))).outcome, 'failed')
    assert.is((await one(task('mkdir -p test/check.sh/deep'))).outcome, 'failed')
    assert.is((await one(task('echo right > answer.txt'))).outcome, 'passed')
  })

  it('is not left by hidden files: a link that an agent put in the way is removed, not followed', async (context) => {
    const root = projectFolder(context, { 'outside/check.sh': 'untouched', 'source/check.sh': 'hidden' })
    const dir = join(root, 'work')
    mkdirSync(dir)
    symlinkSync(join(root, 'outside'), join(dir, 'test'))
    symlinkSync(join(root, 'outside/check.sh'), join(dir, 'other.sh'))
    const from = join(root, 'source/check.sh')
    await layFiles(dir, [
      { path: 'test/check.sh', from },
      { path: 'other.sh', from },
    ])
    assert.is(readFileSync(join(root, 'outside/check.sh'), 'utf8'), 'untouched')
    assert.is(readFileSync(join(dir, 'test/check.sh'), 'utf8'), 'hidden')
    assert.ok(!lstatSync(join(dir, 'other.sh')).isSymbolicLink())
  })

  it('is made anew for the checks if an agent removed it or put a link in its place', async (context) => {
    const root = projectFolder(context, { 'outside/answer.txt': 'right' })
    const task = (prompt: string): Task => ({
      id: 'hidden',
      prompts: [prompt],
      checkFiles: { 'check.sh': 'grep -q right answer.txt' },
      check: ['sh check.sh', 'true'],
    })
    const away = 'dir=$PWD; cd ..; mv "$dir" "$dir.away"'
    for (const prompt of ['rm -rf "$PWD"', `${away}; ln -s ${root}/outside "$dir"`, `${away}; echo right > "$dir"`]) {
      const { outcome, error, scores } = await one(task(prompt))
      assert.equal([outcome, error, scores.map(({ passed }) => passed)], ['failed', undefined, [false, true]], prompt)
    }
    assert.equal(readdirSync(join(root, 'outside')), ['answer.txt'])
  })

  it('in which an agent leaves no way to lay the hidden files has failed its checks, and is no error', async (context) => {
    const out = join(projectFolder(context), 'results')
    const deep = `mkdir check.sh; cd check.sh; name=${'d'.repeat(200)}; for i in $(seq 25); do mkdir $name && cd $name; done`
    const { outcome, error, scores } = await one(
      { id: 'deep', prompts: [deep], checkFiles: { 'check.sh': 'true' }, check: ['sh check.sh', 'true'] },
      { out },
    )
    assert.equal([outcome, error, scores.map(({ passed }) => passed)], ['failed', undefined, [false, false]])
    assert.match(scores[1]!.reason!, /^the hidden files could not be laid: ENAMETOOLONG/)
  })

  it('is made writable for the hidden files; one of the suite that is gone is not the agent’s doing', async (context) => {
    const root = projectFolder(context, { 'hidden/check.sh': 'hidden', 'work/test/check.sh': 'mine' })
    const dir = join(root, 'work')
    for (const path of ['test', '.']) chmodSync(join(dir, path), 0o500)
    const file = { path: 'test/check.sh', from: join(root, 'hidden/check.sh') }
    assert.is(await layOver(dir, [file]), undefined)
    assert.is(readFileSync(join(dir, 'test/check.sh'), 'utf8'), 'hidden')
    rmSync(file.from)
    await assert.rejects(layOver(dir, [file]), /ENOENT.*hidden/)
  })

  it('is read by checks without following links out of it', async () => {
    const { scores } = await one({
      id: 'link',
      prompts: ['ln -s /etc/hostname name.txt; mkfifo pipe'],
      check: [{ file: 'name.txt' }, { file: 'pipe' }],
    })
    assert.match(scores[0]!.reason!, /outside the workspace/)
    assert.match(scores[1]!.reason!, /not a regular file/)
  })

  it('is rid of a check that never ends, with all that it started', { timeoutMs: 20_000 }, async (context) => {
    const pids = join(projectFolder(context), 'pids')
    const command = `(trap '' TERM; echo $$ >> ${pids}; sleep 600) & echo $! >> ${pids}; sleep 600`
    const { outcome, scores } = await one({ id: 'endless', prompts: ['true'], check: { command, timeoutMs: 300 } })
    assert.is(outcome, 'failed')
    assert.match(scores[0]!.reason!, /\[it was killed after 300 ms\]/)
    for (const pid of readFileSync(pids, 'utf8').trim().split('\n')) await untilDead(Number(pid), context.signal)
  })

  it('sees no keys of this process in its commands', async (context) => {
    process.env['ANTHROPIC_API_KEY'] = 'sk-ant-secret-of-a-test'
    context.cleanup(() => delete process.env['ANTHROPIC_API_KEY'])
    const { answer, scores } = await one({
      id: 'env',
      prompts: ['env'],
      setup: '! env | grep secret',
      check: '! env | grep secret-of',
    })
    assert.match(answer, /PATH=/)
    assert.not.match(answer, /sk-ant/)
    assert.ok(scores[0]!.passed)
  })

  it('is removed even if a command made it unwritable', async (context) => {
    const dir = join(projectFolder(context), 'locked')
    mkdirSync(join(dir, 'a/b'), { recursive: true })
    writeFileSync(join(dir, 'a/b/file'), '')
    chmodSync(join(dir, 'a/b'), 0o500)
    chmodSync(join(dir, 'a'), 0o500)
    await removeFolder(dir)
    assert.ok(!existsSync(dir))
  })

  it('that cannot be removed is left, and no result is lost for it', async (context) => {
    const out = join(projectFolder(context), 'results')
    // Deeper than a path may be long.
    const deep = `name=${'d'.repeat(200)}; for i in $(seq 25); do mkdir $name && cd $name; done`
    const tasks = ['a', 'b'].map((id) => ({ id, prompts: [id === 'a' ? deep : 'true'], check: `test ${id} = a` }))
    const { results } = await evaluate(running, tasks, {}, { model: shell, concurrency: 1, out })
    assert.equal(
      results.map(({ outcome }) => outcome),
      ['passed', 'failed'],
    )
    const left = (): readonly string[] => readdirSync(join(out, 'workspaces')).map((name) => name.slice(0, 6))
    assert.equal(left().toSorted(), ['.work-', 'b.as-d'])
    assert.is(readFileSync(join(out, 'results.jsonl'), 'utf8').trimEnd().split('\n').length, 3)
    const again = await evaluate(running, tasks, {}, { model: shell, out })
    assert.equal([again.results.length, again.stopped], [2, undefined])
  })

  it('that an agent leaves to change the suite is told of, and ends the evaluation', async (context) => {
    const root = projectFolder(context, {
      'mini/a/task.json': JSON.stringify({ prompts: ['true'], check: 'true' }),
      'mini/b/task.json': JSON.stringify({ prompts: ['PLACE'], check: 'false' }).replace(
        'PLACE',
        'echo true > $ROOT/mini/b/check.sh',
      ),
      'mini/c/task.json': JSON.stringify({ prompts: ['true'], check: 'true' }),
    })
    const task = join(root, 'mini/b/task.json')
    writeFileSync(task, readFileSync(task, 'utf8').replace('$ROOT', root))
    const { results, stopped } = await evaluate(
      running,
      join(root, 'mini'),
      {},
      { model: shell, concurrency: 1, out: join(root, 'results') },
    )
    assert.equal(
      results.map(({ outcome, error }) => [outcome, error?.code]),
      [
        ['passed', undefined],
        ['error', 'EVALUATION_OUTSIDE'],
      ],
    )
    assert.is(stopped?.why, 'changed')
    assert.match(stopped!.message!, /mini\/b\/check\.sh\. Correct the task, or use --docker/)
  })

  it('that an agent leaves to change what a task brings, whatever its name, is told of', async (context) => {
    for (const hidden of ['check/node_modules/dep/c.sh', 'check/.git/hook', 'files/.escapement/session']) {
      const root = projectFolder(context, { [`mini/b/${hidden}`]: 'exit 1' })
      const prompt = `echo exit 0 > ${join(root, 'mini/b', hidden)}`
      writeFileSync(join(root, 'mini/b/task.json'), JSON.stringify({ prompts: [prompt], check: 'true' }))
      const { results, stopped } = await evaluate(running, join(root, 'mini'), {}, { model: shell, concurrency: 1 })
      assert.is(results[0]!.error?.code, 'EVALUATION_OUTSIDE', hidden)
      assert.match(stopped!.message!, `mini/b/${hidden}`)
    }
  })

  it('that an agent leaves for what is no part of the suite is not told of', async (context) => {
    const root = projectFolder(context, { 'mini/node_modules/dep/x.js': '' })
    mkdirSync(join(root, 'mini/b'))
    const prompt = `echo 1 > ${join(root, 'mini/node_modules/dep/x.js')}`
    writeFileSync(join(root, 'mini/b/task.json'), JSON.stringify({ prompts: [prompt], check: 'true' }))
    const { results } = await evaluate(running, join(root, 'mini'), {}, { model: shell })
    assert.equal([results[0]!.outcome, results[0]!.error], ['passed', undefined])
  })

  it('that an agent leaves to change that of another trial is told of', async (context) => {
    const out = join(projectFolder(context), 'results')
    const tasks = [
      { id: 'a', prompts: ['true'], check: 'false' },
      { id: 'b', prompts: ['echo mine > ../a.as-defined.0/note'], check: 'true' },
    ]
    const { results, stopped } = await evaluate(running, tasks, {}, { model: shell, concurrency: 1, out })
    assert.equal(
      results.map(({ outcome, error }) => [outcome, error?.code]),
      [
        ['failed', undefined],
        ['error', 'EVALUATION_OUTSIDE'],
      ],
    )
    assert.is(stopped, undefined)
  })
})
