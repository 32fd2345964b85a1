import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { needing } from '../../../../test/support/needing.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import { localWorkspace } from '../../../tools/src/workspace/localWorkspace.ts'
import { call, callerOf, temporary } from '../client/callerHarness.ts'
import { serveChatModel } from './chatModel.ts'
import { foreignAgents, qwenIn } from './qwen.ts'

const slow = { timeoutMs: 180_000 }

/** Approves all that people are asked, and returns what they were shown. */
function approveAll(agent: Agent): readonly { readonly name: string }[] {
  const shown: { readonly name: string }[] = []
  agent.subscribe((event) => {
    if (event.type !== 'approval.requested') return
    shown.push(event)
    setImmediate(() => agent.decide(event.key, 'approve'))
  })
  return shown
}

describe('a coding agent of another vendor as a sub-agent', (it) => {
  const itNeeds = needing(foreignAgents, it)

  itNeeds('asks people before it writes, and writes by our workspace', slow, async (context) => {
    const cwd = temporary(context)
    writeFileSync(join(cwd, 'a.txt'), 'before\n')
    const model = await serveChatModel(context, [
      { name: 'write_file', input: { file_path: join(cwd, 'new/b.txt'), content: 'hello\n' } },
      { name: 'read_file', input: { file_path: join(cwd, 'a.txt') } },
      { name: 'edit', input: { file_path: join(cwd, 'a.txt'), old_string: 'before', new_string: 'after' } },
    ])
    const place = localWorkspace(cwd)
    const written: string[] = []
    const write: typeof place.write = async (...given) => {
      written.push(given[0])
      await place.write(...given)
    }
    const workspace = Object.create(place, { write: { value: write } }) as typeof place
    const qwen = qwenIn(context, cwd, { model: model.url, workspace })
    const { agent, said, log } = await call(context, callerOf(qwen, 'Change the files.'))
    const shown = approveAll(agent)
    assert.is(await said(), 'All done.', model.results.join('\n'))

    assert.equal(
      shown.map(({ name }) => name),
      ['qwen_edit', 'qwen_edit'],
    )
    assert.match(JSON.stringify(shown[0]), 'hello')
    assert.match(JSON.stringify(shown[1]), 'after')
    assert.equal(written, ['new/b.txt', 'a.txt'])
    assert.is(readFileSync(join(cwd, 'new/b.txt'), 'utf8'), 'hello\n')
    assert.is(readFileSync(join(cwd, 'a.txt'), 'utf8'), 'after\n')

    const records = await log()
    const end = records.find(({ type }) => type === 'tool.end')
    assert.ok(end?.type === 'tool.end')
    assert.equal([end.message.isError, end.message.changed], [false, ['new/b.txt', 'a.txt']])
    assert.ok(end.spent !== undefined && end.spent.turns >= 3)
    const texts = records.flatMap((record) => (record.type === 'child.update' ? [record.text] : []))
    assert.match(texts.join('\n'), 'WriteFile')
  })

  itNeeds('goes on in its session once its process was killed', slow, async (context) => {
    const cwd = temporary(context)
    const files = ['b.txt', 'c.txt'].map((name) => ({
      name: 'write_file',
      input: { file_path: join(cwd, name), content: `${name}\n` },
    }))
    let pid: number | undefined
    const model = await serveChatModel(context, files, (step) => {
      if (step !== 1 || pid === undefined) return
      // It starts another process, which does the work.
      process.kill(-pid, 'SIGKILL')
      pid = undefined
    })
    const permissions = { allow: ['qwen_edit'] }
    const caller = callerOf(qwenIn(context, cwd, { model: model.url }), 'Write two files.', { permissions })
    const { agent, said, log } = await call(context, caller)
    const ids: string[] = []
    agent.subscribe((event) => {
      if (event.type !== 'child.noted') return
      ids.push(event.childId)
      if (ids.length === 1) pid = (event.handle as { readonly process: { readonly pid: number } }).process.pid
    })
    assert.is(await said(), 'All done.', model.results.join('\n'))
    assert.equal(ids, [ids[0], ids[0]])
    const texts = (await log()).flatMap((record) => (record.type === 'child.update' ? [record.text] : []))
    assert.match(texts.join('\n'), /is gone: it was killed by SIGKILL.*It is begun again/)
    for (const name of ['b.txt', 'c.txt']) assert.is(readFileSync(join(cwd, name), 'utf8'), `${name}\n`)
    assert.match(model.asked.join('\n'), 'You were interrupted')
  })

  itNeeds('is held to the rules of its caller', slow, async (context) => {
    const cwd = temporary(context)
    const command = 'git push origin'
    const model = await serveChatModel(context, [
      { name: 'run_shell_command', input: { command, description: 'Push', is_background: false } },
    ])
    const permissions = { deny: ['qwen_execute(git push *)'] }
    const caller = callerOf(qwenIn(context, cwd, { model: model.url }), 'Push.', { permissions })
    const { said, log } = await call(context, caller)
    assert.match(await said(), /did not finish: it ended when it was not permitted to do this: .*git push origin/)
    assert.not.ok((await log()).some(({ type }) => type === 'question.asked' || type === 'approval.requested'))
  })

  itNeeds('says that it wants a login, and how, where it has no key', slow, async (context) => {
    const cwd = temporary(context)
    const { said, log } = await call(context, callerOf(qwenIn(context, cwd), 'Change the files.'))
    assert.match(await said(), /The agent "qwen" wants a login: .* authMethod: openai \(/)
    const end = (await log()).find(({ type }) => type === 'tool.end')
    assert.ok(end?.type === 'tool.end' && end.message.isError)
    assert.not.ok(existsSync(join(cwd, 'new')))
  })
})
