import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { assert, describe } from '../../../../test/support/suite.ts'
import { paused } from '../../../../test/support/lives.ts'
import { call, callerOf, foreign, temporary } from './callerHarness.ts'

const lines = (...all: string[]): string => all.join('\n')
const slow = { timeoutMs: 60_000 }

describe('a foreign agent of the Agent Client Protocol', (it) => {
  it('is given a task, tells of its work, and answers with its last words', slow, async (context) => {
    const task = lines(
      'say Let me see.',
      'tool Look at src',
      'think Hm',
      'done Look at src',
      'usage 1200',
      'say All',
      'say  well.',
    )
    const { said, log } = await call(context, callerOf(foreign(), task))
    assert.is(await said(), 'All well.')
    const records = await log()
    const updates = records.flatMap((record) => (record.type === 'child.update' ? [record] : []))
    assert.equal(updates.map(({ kind }) => kind).toSorted(), ['text', 'text', 'thought', 'tool'].toSorted())
    const noted = records.find(({ type }) => type === 'child.noted')
    assert.ok(noted?.type === 'child.noted' && noted.protocol === 'acp' && /^s\d+$/.test(noted.childId))
    const end = records.find(({ type }) => type === 'tool.end')
    assert.ok(end?.type === 'tool.end' && end.spent?.turns === 2 && end.spent.usage.input === 1_200)
    assert.is(end.spent.costUsd, 0.25)
  })

  it('has its permissions put to people, with what it wants to do', slow, async (context) => {
    const { agent, said } = await call(context, callerOf(foreign(), lines('edit /src/a.ts', 'run npm test')))
    await paused(agent)
    const [first] = agent.pending()
    assert.equal([first!.kind, first!.name], ['approval', 'codex_edit'])
    assert.match(JSON.stringify(first), /Edit \/src\/a\.ts/)
    agent.decide(first!.key, 'approve')
    while (agent.pending()[0]?.name !== 'codex_execute') await paused(agent)
    agent.decide(agent.pending()[0]!.key, 'deny')
    const answer = await said()
    assert.match(answer, /"optionId":"y".*"optionId":"n"/)
  })

  it('asks by options of its own what they choose', slow, async (context) => {
    const { agent, said } = await call(context, callerOf(foreign(), 'choose red green'))
    await paused(agent)
    const [question] = agent.pending()
    assert.is(question!.kind, 'question')
    agent.decide(question!.key, { value: 'green' })
    assert.match(await said(), /"optionId":"o-green"/)
  })

  it(
    'is held to rules about a call however many options it has, and whatever it says of it again',
    slow,
    async (context) => {
      const deny = ['codex_execute(git push *)', 'codex_execute(git push)']
      for (const [options, outcome] of [
        ['allow_always,allow_always,allow_once,reject_once', { outcome: 'selected', optionId: '3' }],
        ['allow_once,allow_once,reject_once', { outcome: 'selected', optionId: '2' }],
        ['allow_once,allow_once', { outcome: 'cancelled' }],
      ] as const) {
        const caller = callerOf(foreign(), `permit execute:${options}`, { permissions: { deny } })
        const { agent, said, log } = await call(context, caller)
        agent.subscribe(({ type }) => void (type === 'question.asked' && agent.abort()))
        assert.is(await said(), JSON.stringify({ outcome }), options)
        assert.not.ok((await log()).some(({ type }) => type === 'question.asked' || type === 'approval.requested'))
      }
      const task = 'permit execute:allow_always,allow_always,allow_once,reject_once'
      const { said } = await call(context, callerOf(foreign(), task, { permissions: { allow: ['codex_execute'] } }))
      assert.match(await said(), /"optionId":"2"/)
    },
  )

  it('is said to have ended at what was not permitted, if it says no more', slow, async (context) => {
    const task = lines('say Let me push.', 'permit execute:allow_once,reject_once')
    const caller = callerOf(foreign({ env: { MUTE: '1' } }), task, { permissions: { deny: ['codex_execute'] } })
    const { said, log } = await call(context, caller)
    assert.match(
      await said(),
      /did not finish: it ended when it was not permitted to do this: Do it\.[^]*Let me push\./,
    )
    const end = (await log()).find(({ type }) => type === 'tool.end')
    assert.ok(end?.type === 'tool.end' && end.message.isError)
  })

  it('is asked about a write while nothing but reading was allowed', slow, async (context) => {
    const cwd = temporary(context)
    const task = lines('permit read:allow_once,reject_once', `write ${join(cwd, 'a')}`, 'done p1')
    const permissions = { allow: ['codex_read'], deny: ['codex_execute'] }
    const { agent, said } = await call(context, callerOf(foreign({ cwd }), task, { permissions }))
    await paused(agent)
    assert.is(agent.pending()[0]!.name, 'codex_edit')
    agent.decide(agent.pending()[0]!.key, 'deny')
    assert.match(await said(), /Not permitted/)
    assert.not.ok(existsSync(join(cwd, 'a')))
  })

  it('is held to the rules of its caller', slow, async (context) => {
    const cwd = temporary(context)
    const task = lines(`edit ${join(cwd, 'src/a.ts')}`, 'run npm test', 'run git push', `edit ${cwd}/../b.ts`)
    const permissions = {
      mode: 'refuse',
      allow: ['codex_edit(src/**)', 'codex_execute(npm *)'],
      deny: ['codex_execute(git push *)'],
    } as const
    const { said, log } = await call(context, callerOf(foreign({ cwd }), task, { permissions }))
    const answer = await said()
    assert.equal(
      [...answer.matchAll(/"optionId":"(\w)"/g)].map(([, id]) => id),
      ['y', 'y', 'n', 'n'],
    )
    assert.not.ok((await log()).some(({ type }) => type === 'approval.requested'))
  })

  it('works in the workspace of its caller, and not outside', slow, async (context) => {
    const cwd = temporary(context)
    writeFileSync(join(cwd, 'a.txt'), 'one\ntwo\n')
    symlinkSync('/etc', join(cwd, 'etc'))
    const task = lines(
      `read ${join(cwd, 'a.txt')}`,
      'read /etc/hostname',
      `read ${join(cwd, 'etc/hostname')}`,
      `write ${join(cwd, 'new/b.txt')}`,
      `write ${join(cwd, '../b.txt')}`,
      'exec sh -c pwd',
    )
    const permissions = { mode: 'auto' } as const
    const { said, log } = await call(context, callerOf(foreign({ cwd }), task, { permissions }))
    const answer = await said()
    assert.match(answer, /"content":"one\\ntwo\\n"/)
    assert.match(answer, new RegExp(`"exitCode":0.*"output":"${cwd}\\\\n"`))
    assert.is(readFileSync(join(cwd, 'new/b.txt'), 'utf8'), 'written')
    assert.not.ok(existsSync(join(cwd, '../b.txt')))
    const refused = (await log()).flatMap((record) =>
      record.type === 'child.update' && record.kind === 'status' ? [record.text] : [],
    )
    assert.match(refused.join('\n'), /\/etc\/hostname.*outside/)
    const end = (await log()).find(({ type }) => type === 'tool.end')
    assert.ok(end?.type === 'tool.end')
    assert.equal(end.message.changed, ['new/b.txt'])
  })

  it('asks people before it writes or runs something, unless they have allowed the call', slow, async (context) => {
    const cwd = temporary(context)
    const task = lines(
      `write ${join(cwd, 'a')}`,
      `edit ${join(cwd, 'b')}`,
      `write ${join(cwd, 'b')}`,
      'done e1',
      'exec true',
    )
    const { agent, said } = await call(context, callerOf(foreign({ cwd }), task))
    const names: string[] = []
    const stop = agent.subscribe((event) => {
      if (event.type === 'approval.requested') names.push(event.name)
      if (event.type === 'state.changed' && event.state === 'paused')
        setImmediate(() => agent.decide(agent.pending()[0]!.key, names.length === 1 ? 'deny' : 'approve'))
    })
    const answer = await said()
    stop()
    assert.equal(names, ['codex_edit', 'codex_edit', 'codex_execute'])
    assert.match(answer, /Not permitted\. Denied by the user/)
    assert.equal([existsSync(join(cwd, 'a')), existsSync(join(cwd, 'b'))], [false, true])
  })
})

describe('a foreign agent that cannot be used', (it) => {
  for (const [what, options, says] of [
    ['a program that is not there', { command: '/no/such/program' }, /could not be started \(\/no\/such\/program\)/],
    ['one of another version', { env: { VERSION: '9' } }, /speaks version 9 .* this speaks 1/],
    ['one that wants a login', { env: { LOGIN: '1' } }, /wants a login: .*key \(A key\)/],
    [
      'one that says why it ends',
      { command: '/bin/sh', args: ['-c', 'echo "Error: no key" >&2; exit 3'], restart: 'never' },
      /it exited with code 3, and last wrote "Error: no key"/,
    ],
  ] as const)
    it(`is told of: ${what}`, slow, async (context) => {
      const { said } = await call(context, callerOf(foreign(options), 'say hello'))
      assert.match(await said(), says)
    })

  for (const [reason, says] of [
    ['max_tokens', /limit of tokens/],
    ['refusal', /it refused/],
    ['unheard_of', /ended with "unheard_of"/],
  ] as const)
    it(`does not pass off ${reason} as an answer`, slow, async (context) => {
      const { said, log } = await call(context, callerOf(foreign(), lines('say half', `stop ${reason}`)))
      assert.match(await said(), says)
      const end = (await log()).find(({ type }) => type === 'tool.end')
      assert.ok(end?.type === 'tool.end' && end.message.isError)
    })
})
