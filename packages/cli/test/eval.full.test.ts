import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { assert, describe } from '../../../test/support/suite.ts'
import { parseCommandLine } from '../src/commandLine.ts'
import { evalEntry } from '../src/evaluation/evalEntry.ts'
import { resumeLine } from '../src/evaluation/resumeLine.ts'
import { cleanEnv } from './cliChild.ts'
import { endedCli, startCli } from './cliInProcess.ts'
import { door, inFolder, inProcesses, reportIn, suite } from './evalProject.ts'

describe('escapement eval', (it) => {
  it('tries a suite in arms, without a key, and says where the results are', { timeoutMs: 20_000 }, async (context) => {
    const { cwd, run } = inFolder(context)
    const { code, stdout, stderr } = await run('mini', '--arm', 'off', '--arm', 'stall+revert', '--trials', '2')
    assert.is(code, 0)
    assert.match(stderr, /^Using the embedded model of the suite, as no key of a provider is set\.$/m)
    assert.match(stderr, /^\[8 of 8\] passed \w+\/[\w+]+\/[01], \d+\.\d s$/m)
    const [, folder = ''] = /^Results are in (.*)$/m.exec(stderr) ?? []
    assert.match(folder, new RegExp(`^${cwd}/\\.escapement/evals/mini-\\d{8}-\\d{6}$`))
    assert.equal(JSON.parse(stdout), reportIn(folder))
    assert.equal(
      reportIn(folder).arms.map(({ name, passAt1 }) => [name, passAt1.value]),
      [
        ['off', 1],
        ['stall+revert', 1],
      ],
    )
    assert.is(readFileSync(join(cwd, '.escapement/.gitignore'), 'utf8'), '*\n')
    assert.ok(existsSync(join(folder, 'report.junit.xml')))
  })

  it('shows a table and how far it is at a terminal', { timeoutMs: 20_000 }, async (context) => {
    const { cwd } = inFolder(context)
    const { code, stdout } = await endedCli(context, ['eval', 'mini', '--out', 'out'], {
      cwd,
      env: cleanEnv(cwd),
      isTerminal: true,
    })
    assert.is(code, 0)
    assert.match(stdout, /Suite mini/)
    assert.match(stdout, /2 trials: 2 passed, 0 failed/)
  })

  it('says what is wrong with its options, and exits with 2', async (context) => {
    const { run } = inFolder(context)
    const said = async (...args: readonly string[]): Promise<string> => {
      const { code, stderr } = await run(...args)
      assert.is(code, 2)
      return stderr
    }
    assert.match(await said('mimi'), /There is no suite mimi\. Did you mean mini\?/)
    assert.match(await said('mini', '--arm', 'stal'), /there is no "stal"\. Did you mean "stall"\?/)
    assert.match(await said('mini', '--trials', '0'), /--trials takes a whole number from 1 on; it got "0"/)
    assert.match(await said('mini', '--budget', 'much'), /--budget takes an amount above 0; it got "much"/)
    assert.match(
      await said('mini', '--budget', '1'),
      /those of embedded:obedient, of the arm "as-defined", are not known/,
    )
    assert.match(await said('mini', '--out', 'mini/results'), /lies in the suite, which would change with every result/)
    assert.match(await said('mini', '--out', 'a', '--resume', 'a'), /leave --out out/)
    assert.match(await said('mini', '--resume', 'nowhere'), /nowhere holds no evaluation/)
    assert.match(await said('mini', '--prices', 'none.json'), /none\.json could not be read/)
    assert.match(await said('mini', '--replay', 'nowhere'), /nowhere holds no evaluation/)
    assert.match(await said('report', 'nowhere'), /nowhere/)
    assert.match(await said('mini', '--changed', '--arm', 'off'), /makes the arms "before" and "after"/)
    assert.match(await said('mini', '--changed'), /is not in a git repository/)
    assert.match(await said('mini', '--definition', 'none.js'), /none\.js does not exist/)
  })

  it('is stopped by Ctrl-C before its first trial, and says to begin again', { timeoutMs: 20_000 }, async (context) => {
    const task = JSON.stringify({ prompts: ['say: x'], check: 'touch begun; test -e ../../../done || sleep 600' })
    const { cwd, run } = inFolder(context, { ...suite, 'mini/slow/task.json': task })
    const child = startCli(context, ['eval', 'mini', '--out', 'out'], { cwd, env: cleanEnv(cwd), input: '' })
    while (!isThere(join(cwd, 'out/workspaces'), 'begun')) await new Promise((resolve) => setImmediate(resolve))
    child.signal()
    assert.is(await child.ended, 130)
    assert.match(child.stderr, /Stopped: by Ctrl-C\nNo trial has run yet: run the same command again\.\n$/)
    assert.not.match(child.stderr, '--resume')
    assert.not.ok(existsSync(join(cwd, 'out/report.json')))
    writeFileSync(join(cwd, 'done'), '')
    const again = await run('mini', '--out', 'out')
    assert.is(again.code, 0, again.stderr)
  })

  it('is stopped by Ctrl-C, says how it goes on, and goes on', { timeoutMs: 20_000 }, async (context) => {
    const slow = {
      ...suite,
      'mini/slow/task.json': '{ "prompts": ["run: touch begun; sleep 600"], "check": { "answer": "x" } }',
    }
    const { cwd, run } = inFolder(context, slow)
    const child = startCli(context, ['eval', 'mini', '--out', 'out', '--concurrency', '3'], {
      cwd,
      env: cleanEnv(cwd),
      input: '',
    })
    while (!isThere(join(cwd, 'out/workspaces'), 'begun') || !/\[2 of 3\]/.test(child.stderr))
      await new Promise((resolve) => setImmediate(resolve))
    child.signal()
    assert.is(await child.ended, 130)
    assert.match(
      child.stderr,
      /Stopped: by Ctrl-C\nContinue with: escapement eval mini --resume .*\/out --concurrency 3\n/,
    )
    assert.is(reportIn(join(cwd, 'out')).stopped?.why, 'aborted')
    assert.equal(readdirSync(join(cwd, 'out/workspaces')), [])
    // A task that changed is another one.
    writeFileSync(join(cwd, 'mini/slow/task.json'), '{ "prompts": ["say: x"], "check": { "answer": "x" } }')
    const changed = await run('mini', '--resume', 'out')
    assert.is(changed.code, 1)
    assert.match(changed.stderr, /the files of the suite mini have changed\..*\(EVALUATION_CHANGED\)/)
    writeFileSync(join(cwd, 'mini/slow/task.json'), slow['mini/slow/task.json'])
    const replies = readFileSync(join(cwd, 'out/results.jsonl'), 'utf8')
    const again = startCli(context, ['eval', 'mini', '--resume', 'out'], { cwd, env: cleanEnv(cwd), input: '' })
    while (!isThere(join(cwd, 'out/workspaces'), 'begun')) await new Promise((resolve) => setImmediate(resolve))
    again.signal()
    assert.is(await again.ended, 130)
    assert.is(readFileSync(join(cwd, 'out/results.jsonl'), 'utf8'), replies)
  })

  it('reports a finished evaluation again, measured from its logs', { timeoutMs: 20_000 }, async (context) => {
    const { cwd, run } = inFolder(context)
    await run('mini', '--out', 'out')
    const file = join(cwd, 'out/results.jsonl')
    const before = reportIn(join(cwd, 'out'))
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('"turns":1', '"turns":70'))
    const { code, stdout } = await run('report', 'out')
    assert.is(code, 0)
    assert.equal(JSON.parse(stdout), before)
  })

  it('says that a report cannot be written, and that results are there', { timeoutMs: 20_000 }, async (context) => {
    const { cwd, run } = inFolder(context, { ...suite, 'out/report.json/is a folder': '' })
    const first = await run('mini', '--out', 'out')
    const again = await run('report', 'out')
    for (const { code, stderr } of [first, again]) {
      assert.is(code, 1)
      assert.match(stderr, /The report could not be written: .*report\.json/)
      assert.match(stderr, /escapement eval report <folder>\. \(EVALUATION_UNREPORTED\)/)
    }
    rmSync(join(cwd, 'out/report.json'), { recursive: true })
    assert.is((await run('report', 'out')).code, 0)
    assert.is(reportIn(join(cwd, 'out')).progress.missing, 0)
  })

  it('records replies, and plays them without asking a model', { timeoutMs: 40_000 }, async (context) => {
    const { cwd, run } = inProcesses(context)
    await run('mini', '--arm', 'off', '--trials', '2', '--record', '--out', 'first')
    assert.equal(
      readdirSync(join(cwd, 'first/recordings')),
      ['hello.off.0', 'hello.off.1', 'write.off.0', 'write.off.1'].map((id) => `${id}.jsonl`),
    )
    const broken = readFileSync(join(cwd, 'mini/suite.js'), 'utf8').replace(
      'policyModel((request) => {',
      'policyModel((request) => {\n  throw new Error("asked")',
    )
    writeFileSync(join(cwd, 'mini/suite.js'), broken)
    const { code, stderr } = await run('mini', '--replay', 'first', '--out', 'second')
    assert.is(code, 0, stderr)
    const second = reportIn(join(cwd, 'second'))
    assert.equal(
      [second.trials, second.arms.map(({ name, model, passAt1 }) => [name, model, passAt1.value])],
      [2, [['off', 'embedded:obedient', 1]]],
    )
    // Results of commands say how long they took, so those may differ.
    const same = readFileSync(join(cwd, 'second/results.jsonl'), 'utf8')
      .split('\n')
      .filter((line) => line.includes('"task":"hello"'))
    assert.equal(
      same.map((line) => line.includes('differences')),
      [false, false],
    )
    // Other instructions: every request differs, and that is counted.
    writeFileSync(join(cwd, 'mini/suite.js'), broken.replace("'first'", "'other'"))
    await run('mini', '--replay', 'first', '--out', 'third')
    assert.is(readFileSync(join(cwd, 'third/results.jsonl'), 'utf8').match(/"differences":[12]/g)?.length, 4)
    const none = await run('mini', '--replay', 'second', '--out', 'fourth')
    assert.match(none.stderr, /second holds no recordings: they are made with --record/)
  })

  it('has prices and a budget, which a refused key or its end never loses', { timeoutMs: 20_000 }, async (context) => {
    const { cwd, run } = inFolder(context, {
      ...suite,
      'prices.json': '{ "embedded:obedient": { "input": 0, "output": 50000 } }',
    })
    const { code, stderr } = await run(
      'mini',
      '--prices',
      'prices.json',
      '--budget',
      '0.4',
      '--concurrency',
      '1',
      '--out',
      'out',
    )
    assert.is(code, 1)
    assert.match(
      stderr,
      /Stopped: the budget is spent: 0\.5000 of 0\.4 US dollars are spent\nContinue with: escapement eval mini --resume .*out --concurrency 1 --prices prices\.json --budget <more>\n/,
    )
    const more = await run('mini', '--prices', 'prices.json', '--budget', '5', '--resume', 'out')
    assert.is(more.code, 0)
    assert.is(reportIn(join(cwd, 'out')).progress.isComplete, true)
    const wrong = { ...suite, 'prices.json': '{ "x": { "input": 1, "ouput": 2 } }' }
    assert.match((await inFolder(context, wrong).run('mini', '--prices', 'prices.json')).stderr, /prices\.json/)
  })
})

describe('how an evaluation goes on', (it) => {
  it('is said with all that was given, but for what its folder remembers', () => {
    const line = (...args: readonly string[]): string => {
      const parsed = parseCommandLine(['eval', ...args], { eval: evalEntry })
      if (parsed.type !== 'command') throw new Error(JSON.stringify(parsed))
      return resumeLine(parsed.invocation, '/a b/out')
    }
    const kept = '--no-config --agent it --judge a:b --definition x.ts --record --docker node:24 --against HEAD --keep'
    const forgotten = ['--arm', 'off', '--arm', 'stall', '--trials', '3', '--seed', '2', '--budget', '1', '--out', 'o']
    assert.is(line('mini', ...forgotten, ...kept.split(' ')), `escapement eval mini --resume '/a b/out' ${kept}`)
    assert.is(
      line('my suite', '--definition', "it's.ts", '--changed'),
      `escapement eval 'my suite' --resume '/a b/out' --definition 'it'\\''s.ts' --changed`,
    )
  })
})

const isThere = (workspaces: string, name: string): boolean =>
  existsSync(workspaces) && readdirSync(workspaces).some((folder) => existsSync(join(workspaces, folder, name)))

describe('escapement eval with two versions of an agent', (it) => {
  const git = (cwd: string, ...args: readonly string[]): string =>
    execFileSync(
      'git',
      ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false', ...args],
      { cwd, encoding: 'utf8', env: cleanEnv(cwd) },
    )

  const agentFile = (answer: string): string => `import { defineAgent, policyModel } from '${door('index.ts')}'
export default ({ tools }) => defineAgent({ name: 'a', tools, model: policyModel(() => '${answer}', { id: 'embedded:${answer}' }) })
`
  const tasks = {
    'package.json': '{ "type": "module" }',
    'mini/hello/task.json': '{ "prompts": ["Hi."], "check": { "answer": "hello" } }',
  }

  it(
    'compares the last commit with the working tree, and leaves no trace of it',
    { timeoutMs: 30_000 },
    async (context) => {
      const { cwd, run } = inProcesses(context, { ...tasks, 'src/agent.js': agentFile('bye') })
      git(cwd, 'init', '--quiet')
      git(cwd, 'add', '.')
      git(cwd, 'commit', '--quiet', '-m', 'one')
      const same = await run('mini', '--definition', 'src/agent.js', '--changed', '--out', 'same')
      assert.match(same.stderr, /Nothing has changed since HEAD \([0-9a-f]+\): both arms are the same\./)
      writeFileSync(join(cwd, 'src/agent.js'), agentFile('hello'))
      const { code, stderr } = await run('mini', '--definition', 'src/agent.js', '--changed', '--out', 'out')
      assert.is(code, 0, stderr)
      assert.match(
        stderr,
        /"after" is the working tree of .*, with changes that are not committed\.\n"before" is HEAD \([0-9a-f]+\)\./,
      )
      assert.equal(
        reportIn(join(cwd, 'out')).arms.map(({ name, model, passAt1 }) => [name, model, passAt1.value]),
        [
          ['before', 'embedded:bye', 0],
          ['after', 'embedded:hello', 1],
        ],
      )
      assert.is(git(cwd, 'worktree', 'list').trim().split('\n').length, 1)
    },
  )

  it('compares modules, and says clearly what is not there', { timeoutMs: 30_000 }, async (context) => {
    const { cwd, run } = inFolder(context, { ...tasks, 'a.js': agentFile('bye'), 'b.js': agentFile('hello') })
    assert.is((await run('mini', '--definition', 'b.js', '--against', 'a.js', '--out', 'out')).code, 0)
    assert.equal(
      reportIn(join(cwd, 'out')).arms.map(({ passAt1 }) => passAt1.value),
      [0, 1],
    )
    git(cwd, 'init', '--quiet')
    git(cwd, 'add', 'a.js')
    git(cwd, 'commit', '--quiet', '-m', 'one')
    assert.match(
      (await run('mini', '--definition', 'a.js', '--against', 'no-such-branch')).stderr,
      /There is no commit "no-such-branch" in /,
    )
    assert.match(
      (await run('mini', '--definition', 'b.js', '--changed')).stderr,
      /b\.js is not in the commit HEAD \([0-9a-f]+\)/,
    )
    assert.match(
      (await run('mini', '--changed')).stderr,
      /this one is built in: name the module of yours with --definition/,
    )
    assert.is(git(cwd, 'worktree', 'list').trim().split('\n').length, 1)
  })
})
