import { readdirSync } from 'node:fs'
import { until } from '../../../../test/support/lives.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { call, callerOf, did, foreign, script, temporary } from './callerHarness.ts'

const lines = (...all: string[]): string => all.join('\n')
const slow = { timeoutMs: 60_000 }

describe('a foreign agent whose process dies', (it) => {
  it('goes on in its session, if it can load it', slow, async (context) => {
    const sessions = temporary(context)
    const { said, log } = await call(context, callerOf(foreign({}, sessions), lines('once die', 'say done')))
    assert.is(await said(), '(no answer)')
    const [begun, first, loaded, second] = did(sessions)
    assert.equal([first, second], ['begins', 'goes on'])
    assert.is(loaded, begun!.replace('new', 'load'))
    const texts = (await log()).flatMap((record) => (record.type === 'child.update' ? [record.text] : []))
    assert.match(texts.join('\n'), /is gone: it was killed by SIGKILL.*It is begun again/)
  })

  it('goes on so too where only its wrapper died, which what it had started does not hinder', slow, async (context) => {
    const sessions = temporary(context)
    const program = [process.execPath, '--disable-warning=ExperimentalWarning', script, sessions]
    const wrapped = foreign({ command: '/bin/sh', args: ['-c', '"$0" "$@"; exit', ...program] }, sessions)
    const { said, log } = await call(context, callerOf(wrapped, lines('once orphan', 'say done')))
    await said()
    const texts = (await log()).flatMap((record) => (record.type === 'child.update' ? [record.text] : []))
    assert.match(texts.join('\n'), /is gone: it was killed by SIGKILL.*It is begun again/)
    assert.equal(
      did(sessions).filter((line) => /begins|goes on/.test(line)),
      ['begins', 'goes on'],
    )
  })

  it('is interrupted, if it cannot: nobody knows how far it came', slow, async (context) => {
    const { said, log } = await call(context, callerOf(foreign(), lines('say half', 'die')))
    assert.match(await said(), /was interrupted, and it cannot load its session again/)
    const end = (await log()).find(({ type }) => type === 'tool.end')
    assert.ok(end?.type === 'tool.end' && end.message.isError)
  })

  it('is given up if it dies every time', slow, async (context) => {
    const { said } = await call(
      context,
      callerOf(foreign({ command: '/bin/sh', args: ['-c', 'exit 7'], maxRestarts: 2 }), 'say hello'),
    )
    assert.match(await said(), /begun anew 2 times, and crashed each time\. .*exited with code 7/)
  })
})

describe('a foreign agent that misbehaves', (it) => {
  it('may write what is no message', slow, async (context) => {
    const { said } = await call(context, callerOf(foreign(), lines('garbage', 'say all the same')))
    assert.is(await said(), 'all the same')
  })

  it('may not write nothing else', slow, async (context) => {
    const { said } = await call(context, callerOf(foreign({ restart: 'never' }), lines('flood', 'hang')))
    assert.match(await said(), /writes nothing but what is no message/)
  })

  it('is ended when it never answers', slow, async (context) => {
    const hung = foreign({ command: '/bin/sh', args: ['-c', 'sleep 600'], startMs: 300, restart: 'never' })
    const { said } = await call(context, callerOf(hung, 'say hello'))
    assert.match(await said(), /did not answer within 300 ms/)
  })

  it('is ended when it gives no sign of life', slow, async (context) => {
    const { said } = await call(context, callerOf(foreign({ stallMs: 1_500, restart: 'never' }), 'hang'))
    assert.match(await said(), /gave no sign of life for 1500 ms/)
  })

  it('is told when its call is cancelled, and leaves no process', slow, async (context) => {
    const sessions = temporary(context)
    const { agent, log } = await call(context, callerOf(foreign({}, sessions), lines('say begun', 'wait', 'hang')))
    await until(agent, (event) => event.type === 'child.update' && event.kind === 'text')
    const noted = (await log()).find(({ type }) => type === 'child.noted')
    assert.ok(noted?.type === 'child.noted')
    const ended = until(agent, ({ type }) => type === 'run.end')
    agent.abort()
    await ended
    const pid = Number(noted.childId.slice(1))
    // Its end takes a moment, in which nobody waits for it.
    while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 20))
    assert.ok(did(sessions).includes('cancelled'))
    assert.ok(readdirSync(sessions).length > 0)
  })
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
