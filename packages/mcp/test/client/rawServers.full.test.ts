import { assert, describe } from '../../../../test/support/suite.ts'
import { isAlive } from '../../../../test/support/livingProcess.ts'
import { linesOf, opened, opening, raw, tempFolder, until } from './opened.ts'
import { join } from 'node:path'

const timeoutMs = 10_000
const secret = 'hunter2-hunter2'

describe('a server that misbehaves', (it) => {
  it(
    'may print garbage: it is skipped, and what it writes to standard error is logged without secrets',
    { timeoutMs },
    async (context) => {
      const open = await opened(context, { ...raw({ start: 'garbage' }), env: { TOKEN: secret } })
      assert.equal(await open.text('echo', { text: 'through' }), 'through')
      await until(() => open.log.some((line) => line.includes('standard error: warning: [redacted')), context.signal)
      assert.not.ok(open.log.join('\n').includes(secret))
    },
  )

  it(
    'may write nothing but garbage, for ever: it is given up, and holds nothing up',
    { timeoutMs },
    async (context) => {
      const options = { restart: { maxRestarts: 0 }, connectMs: 600_000 }
      for (const flood of ['yes', 'cat /dev/zero', 'cat /dev/urandom']) {
        const { connection } = await opened(context, {
          name: 'flood',
          command: 'sh',
          args: ['-c', flood],
          ...options,
          maxResultBytes: 1_000,
        })
        assert.equal(connection.status().state, 'failed', flood)
      }
    },
  )

  it('may exit at once: it is started again, and then given up for a while', { timeoutMs }, async (context) => {
    const journal = join(await tempFolder(context), 'journal')
    const restart = { maxRestarts: 3, backoffMs: 1, windowMs: 600_000 }
    const { connection } = await opened(context, { ...raw({ start: 'exit', journal }), restart })
    await until(() => connection.status().state === 'failed', context.signal)
    assert.equal((await linesOf(journal)).length, 4)
    assert.equal(connection.trouble, 'it did not start: it exited with code 3')
    await connection.ready(context.signal)
    assert.equal(connection.status().state, 'failed')
    assert.equal((await linesOf(journal)).length, 4)
  })

  it('is tried again once the time of a failure has passed', { timeoutMs }, async (context) => {
    const restart = { maxRestarts: 0, windowMs: 1, backoffMs: 1 }
    const journal = join(await tempFolder(context), 'journal')
    const { connection } = await opened(context, { ...raw({ start: 'exit', journal }), restart })
    await until(async () => {
      await connection.ready(context.signal)
      return (await linesOf(journal)).length > 2
    }, context.signal)
  })

  it('may hang in its first answer: a turn waits so long and no longer', { timeoutMs }, async (context) => {
    const options = { ...raw({ start: 'hang' }), connectMs: 300, restart: { maxRestarts: 0 } }
    const { connection } = await opened(context, options)
    assert.equal(connection.status().state, 'failed')
    assert.equal(connection.trouble, 'it did not answer within 300 ms')
    assert.equal(connection.tools, [])
  })

  it('may not exist, which no restart changes', { timeoutMs }, async (context) => {
    const { connection } = await opened(context, { name: 'none', command: 'no-such-program-anywhere' })
    assert.equal(connection.status().state, 'failed')
    assert.equal(connection.trouble, 'there is no program "no-such-program-anywhere", or no such working folder')
  })

  it('may ignore every request to end: it is killed when the connection is closed', { timeoutMs }, async (context) => {
    const { connection, text } = await opened(context, raw({ isStubborn: true }))
    const pid = Number(await text('pid'))
    assert.ok(isAlive(pid))
    await connection.close()
    assert.not.ok(isAlive(pid))
  })

  it(
    'is started again only once the one before has ended, however long that clings on',
    { timeoutMs: 20_000 },
    async (context) => {
      const journal = join(await tempFolder(context), 'journal')
      const options = { ...raw({ start: 'hang', isStubborn: true, journal }), connectMs: 1_500 }
      const { connection } = await opened(context, { ...options, restart: { maxRestarts: 9, backoffMs: 1 } })
      const words = async (): Promise<string[]> => (await linesOf(journal)).map((line) => line.split(' ')[0]!)
      await until(async () => (await words()).filter((word) => word === 'start').length === 2, context.signal)
      assert.equal(await words(), ['start', 'start'])
      await connection.close()
    },
  )

  it('may be closed while it starts', { timeoutMs }, async (context) => {
    const journal = join(await tempFolder(context), 'journal')
    const { connection } = opening(context, raw({ start: 'hang', journal }))
    void connection.ready(context.signal)
    await until(async () => (await linesOf(journal)).length === 1, context.signal)
    await connection.close()
    assert.not.ok(isAlive(Number((await linesOf(journal))[0]!.split(' ')[1])))
    assert.equal(connection.status().state, 'closed')
    await connection.close()
    await connection.ready(context.signal)
  })

  it(
    'may end in the middle of a call: the model reads why, and the next call finds it started again',
    { timeoutMs },
    async (context) => {
      const open = await opened(context, { ...raw(), restart: { backoffMs: 1 } })
      const { tools } = open.connection
      const innocent = open.call('slow').catch((error: unknown) => error)
      const died = await open.call('die').catch((error: unknown) => error)
      const sentence =
        'The MCP server "raw" ended in the middle of the call: it exited with code 7. Whether it took effect is not known.'
      assert.equal((died as Error).message, sentence)
      assert.equal(((await innocent) as Error).message, sentence)
      assert.equal(await open.text('echo', { text: 'again' }), 'again')
      assert.is(open.connection.tools, tools)
    },
  )

  it('may be killed behind a shell, which then ends too', { timeoutMs }, async (context) => {
    const { command, args } = raw()
    const quoted = [command, ...args].map((word) => `'${word}'`).join(' ')
    const options = {
      name: 'raw',
      command: '/bin/sh',
      args: ['-c', `${quoted}; echo over >&2`],
      restart: { backoffMs: 1 },
    }
    const open = await opened(context, options)
    const pid = Number(await open.text('pid'))
    const call = open.call('slow').catch((error: unknown) => error)
    process.kill(pid, 'SIGKILL')
    assert.match(
      ((await call) as Error).message,
      /ended in the middle of the call: it exited with code \d+, and last wrote "over"\./,
    )
    assert.not.equal(Number(await open.text('pid')), pid)
  })

  it('does not outlive a shell that is killed', { timeoutMs }, async (context) => {
    const { command, args } = raw({ isStubborn: true })
    const quoted = [command, ...args].map((word) => `'${word}'`).join(' ')
    const open = await opened(context, {
      name: 'raw',
      command: '/bin/sh',
      args: ['-c', `echo $$ >&2; ${quoted}; true`],
    })
    const pid = Number(await open.text('pid'))
    const shell = Number(/standard error: (\d+)/.exec(open.log.join('\n'))?.[1])
    const call = open.call('slow').catch((error: unknown) => error)
    process.kill(shell, 'SIGKILL')
    assert.match(((await call) as Error).message, /it was killed by SIGKILL/)
    await until(() => !isAlive(pid), context.signal)
  })

  it('may give sound, documents and what nobody knows', { timeoutMs }, async (context) => {
    const open = await opened(context, raw())
    const data = Buffer.from('RIFF').toString('base64')
    const content = [
      { type: 'audio', data, mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'x:/a.pdf', mimeType: 'application/pdf', blob: data } },
      { type: 'resource', resource: { uri: 'x:/a.zip', mimeType: 'application/zip', blob: data } },
      { type: 'hologram', depth: 3 },
    ]
    assert.equal(await open.call('gives', { content }), [
      { type: 'file', data, mimeType: 'audio/wav' },
      { type: 'text', text: '[resource x:/a.pdf]' },
      { type: 'file', data, mimeType: 'application/pdf', name: 'x:/a.pdf' },
      { type: 'text', text: '[resource x:/a.zip]' },
      { type: 'text', text: '[x:/a.zip, application/zip, 4 bytes; it cannot be shown]' },
      { type: 'text', text: '[a block of an unknown kind] {"type":"hologram","depth":3}' },
    ])
  })

  it('may answer at any length up to the limit', { timeoutMs }, async (context) => {
    const open = await opened(context, raw())
    for (const bytes of [9_000_000, 50_000_000]) assert.equal((await open.text('big', { bytes })).length, bytes)
  })

  it('answers beyond the limit cost only the call that wanted them', { timeoutMs }, async (context) => {
    const open = await opened(context, { ...raw(), maxResultBytes: 100_000 })
    const pid = await open.text('pid')
    const innocent = open.call('slow', {}, { signal: context.signal }).catch((error: unknown) => error)
    const thrown = await open.call('big', { bytes: 3_000_000 }).catch((error: unknown) => error)
    assert.equal((thrown as Error).message, 'The MCP server "raw" failed: its answer is longer than 100000 bytes')
    assert.equal(await open.text('pid'), pid)
    assert.equal(await Promise.race([innocent, Promise.resolve('goes on')]), 'goes on')
  })
})

describe('a call of a server', (it) => {
  it(
    'says by which key it is the same call, and no other name than that of the server',
    { timeoutMs },
    async (context) => {
      const pages = [
        [
          { name: 'a.b/c d', inputSchema: {} },
          { name: 'key', inputSchema: {} },
        ],
      ]
      const open = await opened(context, raw({ pages }))
      assert.equal(open.names(), ['a_b_c_d', 'key'])
      assert.equal(await open.text('a_b_c_d', { x: 1 }), 'called a.b/c d with {"x":1}')
      assert.equal(JSON.parse(await open.text('key')), { 'escapement/key': 'agent-1/t0/tool/call-1', progressToken: 3 })
    },
  )

  it('does not wait for a server that is gone for good', { timeoutMs }, async (context) => {
    const open = await opened(context, { ...raw(), restart: { maxRestarts: 0 } })
    const echo = open.tool('echo')
    await open.call('die').catch(() => {})
    const thrown = await open.call('echo').catch((error: unknown) => error)
    assert.equal((thrown as Error).message, 'The MCP server "raw" is not there: it exited with code 7.')
    // What it had stays, so that no request changes.
    assert.is(open.tool('echo'), echo)
    assert.equal(open.connection.status().state, 'failed')
  })

  it('ends when it is aborted while it waits for a restart', { timeoutMs }, async (context) => {
    const open = await opened(context, { ...raw(), restart: { backoffMs: 60_000, maxBackoffMs: 60_000 } })
    await open.call('die').catch(() => {})
    assert.equal(open.connection.status().state, 'waiting')
    const abort = new AbortController()
    const call = open.call('echo', {}, { signal: abort.signal }).catch((error: unknown) => error)
    abort.abort(new Error('enough'))
    assert.equal(((await call) as Error).message, 'enough')
  })
})
