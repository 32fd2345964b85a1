import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandEnvironment, isHarmless } from '../../src/workspace/commandEnvironment.ts'
import { isAlive, untilDead } from '../../../../test/support/livingProcess.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { toolContext } from '../../../../test/support/toolContext.ts'
import { hastyClock, timeoutsOnDemand, workspaceFolder } from './workspaceFolder.ts'

const limits = { timeoutMs: 10_000 }

/** Resolves to the numbers in the output so far once `count` of them have been reported. */
function pidReports(count: number, signal?: AbortSignal) {
  const { promise: pids, resolve } = Promise.withResolvers<number[]>()
  let text = ''
  const context = toolContext({
    ...(signal && { signal }),
    onReport: (progress) => {
      text += (progress as { output: string }).output
      const lines = text.split('\n').slice(0, -1)
      if (lines.length >= count) resolve(lines.map(Number))
    },
  })
  return { pids, context }
}

describe('run_command', (it) => {
  it(
    'gives the output, the exit code and the time of a command that starts in the workspace',
    limits,
    async (context) => {
      const { dir, call } = workspaceFolder(context)
      mkdirSync(join(dir, 'sub'))
      assert.match(
        await call('run_command', { command: 'pwd; echo grüße 👋' }),
        new RegExp(`^${dir}\ngrüße 👋\n\\[exit code 0 after \\d+\\.\\d s\\]$`),
      )
      assert.match(await call('run_command', { command: 'pwd', cwd: 'sub' }), /workspace\/sub\n/)
      assert.match(await call('run_command', { command: 'true' }), /^\(no output\)\n\[exit code 0 /)
      await assert.rejects(call('run_command', { command: 'pwd', cwd: 'missing' }), /"missing" does not exist/)
    },
  )

  it('throws the whole text when the exit code is not zero', limits, async (context) => {
    const { call } = workspaceFolder(context)
    await assert.rejects(
      call('run_command', { command: 'echo reason >&2; exit 3' }),
      /^reason\n\[exit code 3 after \d+\.\d s\]$/,
    )
    await assert.rejects(call('run_command', { command: 'kill -SEGV $$' }), /\[killed by SIGSEGV after/)
    await assert.rejects(call('run_command', { command: 'if' }), /\[exit code 2 after/)
    await assert.rejects(call('run_command', { command: '-nonsense' }), /not found[^]*\[exit code 127 after/)
  })

  it('keeps standard output and standard error in the order they were written', limits, async (context) => {
    const { call } = workspaceFolder(context)
    const text = await call('run_command', { command: 'for i in 1 2 3 4 5 6 7 8 9; do echo o$i; echo e$i >&2; done' })
    const expected = Array.from({ length: 9 }, (_, i) => `o${i + 1}\ne${i + 1}\n`).join('')
    assert.ok(text.startsWith(expected))
  })

  it('gives the command no input to wait for', limits, async (context) => {
    const { call } = workspaceFolder(context)
    assert.match(await call('run_command', { command: 'cat; read line || echo end' }), /^end\n/)
  })

  it('keeps the beginning and the end of a huge output, in bounded memory', limits, async (context) => {
    const { call } = workspaceFolder(context)
    const before = process.memoryUsage.rss()
    const text = await call('run_command', {
      command: 'echo first; head -c 60000000 /dev/zero | tr "\\0" x; echo; echo last',
    })
    assert.match(text, /^first\nx{9994}\n\[… \d+ characters left out …\]\nx+\nlast\n\[exit code 0/)
    assert.ok(text.length < 30_000)
    assert.ok(process.memoryUsage.rss() - before < 150 * 1024 * 1024)
  })

  it('reports output as it comes, and not each piece by itself', limits, async (context) => {
    const { dir, call } = workspaceFolder(context)
    const { pids: seen, context: first } = pidReports(1)
    const running = call(
      'run_command',
      { command: 'echo 1; while [ ! -e go ]; do sleep 0.01; done; seq 2 2000' },
      first,
    )
    assert.equal(await seen, [1])
    await call('write_file', { path: 'go', content: '' })
    await running
    assert.ok(existsSync(join(dir, 'go')))
    const text = first.reports.map((progress) => (progress as { output: string }).output).join('')
    assert.ok(text.startsWith('1\n') && text.endsWith('\n2000\n'))
    assert.ok(first.reports.length < 10)
  })

  it('puts characters together that arrive in two pieces', limits, async (context) => {
    const { call } = workspaceFolder(context)
    assert.match(await call('run_command', { command: "printf '\\342\\202'; sleep 0.05; printf '\\254'" }), /^€\n/)
  })

  it('kills grandchildren that ignore SIGTERM and hold the output open when time is up', limits, async (context) => {
    const { clock, expire } = timeoutsOnDemand()
    const { call } = workspaceFolder(context, {}, { clock })
    const { pids, context: first } = pidReports(2)
    const stubborn = `sh -c 'trap "" TERM; echo $$; while :; do sleep 1; done' & sh -c 'echo $$; exec sleep 300' & wait`
    const running = call('run_command', { command: stubborn, timeoutMs: 20_000 }, first)
    const started = await Promise.race([pids, running.then(() => [])])
    expire()
    await assert.rejects(running, /\[timed out: stopped by the limit of 20000 ms after/)
    assert.is(started.length, 2)
    for (const pid of started) await untilDead(pid, context.signal)
  })

  it('lets a command that is stopped clean up', limits, async (context) => {
    const { dir, call } = workspaceFolder(context)
    const controller = new AbortController()
    const { pids, context: first } = pidReports(1, controller.signal)
    const running = call(
      'run_command',
      { command: `trap 'echo cleaned > done; exit 0' TERM; echo $$; while :; do sleep 0.05; done` },
      first,
    )
    await pids
    controller.abort(new Error('stop it'))
    await assert.rejects(running, /\[aborted after/)
    assert.is(readFileSync(join(dir, 'done'), 'utf8'), 'cleaned\n')
  })

  it('kills the whole group when it is aborted', limits, async (context) => {
    const { call } = workspaceFolder(context, {}, { clock: hastyClock })
    const controller = new AbortController()
    const { pids, context: first } = pidReports(3, controller.signal)
    const command = `(sleep 300 & echo $!; trap '' TERM; sh -c 'echo $$; sleep 300; sleep 300'; sleep 300) & echo $!; wait`
    const running = call('run_command', { command }, first)
    const started = await pids
    controller.abort(new Error('stop it'))
    await assert.rejects(running, /\[aborted after/)
    assert.is(started.length, 3)
    for (const pid of started) await untilDead(pid, context.signal)
  })

  it('starts nothing when it is aborted already', limits, async (context) => {
    const { dir, call } = workspaceFolder(context)
    const signal = AbortSignal.abort(new Error('stop it'))
    await assert.rejects(call('run_command', { command: 'touch started' }, toolContext({ signal })), /stop it/)
    assert.is(existsSync(join(dir, 'started')), false)
  })

  it('stops what a command leaves in the background, whether it holds the output or not', limits, async (context) => {
    const { call } = workspaceFolder(context)
    for (const redirect of ['', '>/dev/null 2>&1']) {
      const text = await call('run_command', { command: `sleep 300 ${redirect} & echo $!` })
      assert.match(text, /\[exit code 0 after \d+\.\d s; processes it left in the background were stopped\]$/)
      await untilDead(Number.parseInt(text, 10), context.signal)
    }
  })

  it('settles although a process that left the group holds the output open', limits, async (context) => {
    const { dir, call } = workspaceFolder(context)
    const text = await call('run_command', {
      command: `setsid sh -c 'echo $$ > pid; exec sleep 300' & while [ ! -s pid ]; do sleep 0.01; done; echo done`,
    })
    const pid = Number(readFileSync(join(dir, 'pid'), 'utf8'))
    context.cleanup(() => process.kill(pid, 'SIGKILL'))
    assert.match(text, /^done\n\[exit code 0/)
    assert.is(isAlive(pid), true)
  })

  it('never runs longer than the host allows', limits, async (context) => {
    const { call } = workspaceFolder(context, {}, { clock: hastyClock, commandTimeoutMs: 5000 })
    await assert.rejects(call('run_command', { command: 'sleep 300', timeoutMs: 9_000_000 }), /limit of 5000 ms/)
  })

  it(
    'hides variables that are not known to be withoutControls and takes those it is given',
    limits,
    async (context) => {
      process.env['DATABASE_URL'] = 'postgres://user:secret@host/db'
      process.env['LC_ESCAPEMENT'] = 'plain'
      context.cleanup(() => {
        delete process.env['DATABASE_URL']
        delete process.env['LC_ESCAPEMENT']
      })
      const command = 'echo "[$DATABASE_URL] [$LC_ESCAPEMENT] [$GIVEN_KEY]"; test -n "$PATH"'
      const plain = workspaceFolder(context)
      assert.match(await plain.call('run_command', { command }), /^\[\] \[plain\] \[\]\n/)
      const given = workspaceFolder(context, {}, { env: { GIVEN_KEY: 'given', LC_ESCAPEMENT: undefined } })
      assert.match(await given.call('run_command', { command }), /^\[\] \[\] \[given\]\n/)
    },
  )

  it('explains a command that cannot be started', limits, async (context) => {
    const { call } = workspaceFolder(context)
    await assert.rejects(
      call('run_command', { command: `echo ${'x'.repeat(4_000_000)}` }),
      /could not be started: .*E2BIG/,
    )
    await assert.rejects(call('run_command', { command: 'echo \0' }), /NUL/)
  })

  it('sees no variable that may hold a secret', () => {
    const secret = [
      'API_KEY',
      'ANTHROPIC_API_KEY',
      'GITHUB_TOKEN',
      'AWS_SECRET_ACCESS_KEY',
      'PGPASSWORD',
      'MYSQL_PWD',
      'REDISCLI_AUTH',
      'npm_config__auth',
      'NPM_CONFIG_USERCONFIG',
      'DOCKER_AUTH_CONFIG',
      'AZURE_STORAGE_CONNECTION_STRING',
      'DATABASE_URL',
      'SENTRY_DSN',
      'SSH_AUTH_SOCK',
      'path',
      'XDGX',
    ]
    const plain = ['PATH', 'HOME', 'PWD', 'LANG', 'LC_ALL', 'TMPDIR', 'CI', 'NODE_ENV', 'XDG_RUNTIME_DIR', 'GOPATH']
    assert.equal(
      secret.filter((name) => isHarmless(name, 'x')),
      [],
    )
    assert.equal(
      plain.filter((name) => !isHarmless(name, 'x')),
      [],
    )
    for (const name of ['HTTPS_PROXY', 'https_proxy']) {
      assert.ok(isHarmless(name, 'http://proxy:3128'))
      assert.not.ok(isHarmless(name, 'http://me:secret@proxy:3128'))
    }
    assert.equal(commandEnvironment({ HOME: '1', B: '2', CI: undefined, TZ: '3' }, { D_KEY: '4', TZ: undefined }), {
      HOME: '1',
      D_KEY: '4',
    })
  })
})
