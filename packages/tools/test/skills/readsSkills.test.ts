import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import { skillTools } from '../../src/skills/skillTools.ts'
import { rebuildConversation } from '../../../../src/conversation/tree/rebuildConversation.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { skillFolder, skillText } from './skillFolder.ts'
import { calls, resultsOf, saidIn, startAgent, tool, withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { cutStore, settled } from '../../../../test/journeys/cutLogs.ts'

const rules = `# The rules\n${'Measure twice, cut once. '.repeat(40)}\n`
const files = { 'carpentry/SKILL.md': skillText('carpentry', 'description: How to cut.', rules) }
const look = tool('look', (input) => `${JSON.stringify(input)} ${'long words '.repeat(110)}`, { effects: 'none' })

describe('an agent with skills', (it) => {
  it('is told of them, reads one, and has it recorded what it was told', async (context) => {
    const { dir } = skillFolder(context, files)
    const { agent, script, records } = await startAgent(context, {
      instructions: 'You are a carpenter.',
      skills: [dir],
      replies: [calls('a', ['read_skill', { name: 'carpentry' }]), 'done'],
    })
    await agent.prompt('cut this').result
    const [first, second] = script.requests
    assert.match(first!.system ?? '', /^You are a carpenter\.\n\n.*\n- carpentry: How to cut\.$/s)
    assert.is(first!.system, second!.system)
    assert.equal(
      first!.tools.map(({ name }) => name),
      ['read_skill'],
    )
    assert.match(resultsOf(second)[0] ?? '', /# The rules\nMeasure twice/)
    const changes = (await records()).filter((record) => record.type === 'tools.changed')
    assert.is(changes.length, 1)
    assert.match(changes[0]!.instructions?.[0]?.text ?? '', /- carpentry: How to cut\./)
  })

  it('has a new skill from the next turn on', async (context) => {
    const { dir } = skillFolder(context, files)
    const write = tool('write', () => {
      mkdirSync(join(dir, 'joinery'))
      writeFileSync(join(dir, 'joinery/SKILL.md'), skillText('joinery'))
      return 'written'
    })
    const { agent, script } = await startAgent(context, {
      tools: [write],
      reframes: true,
      skills: [dir],
      replies: [calls('a', 'write'), calls('b', ['read_skill', { name: 'joinery' }]), 'done'],
    })
    await agent.prompt('go').result
    assert.equal(
      script.requests.map(({ system }) => system.includes('- joinery: ')),
      [false, true, true],
    )
    assert.match(resultsOf(script.requests[2])[1] ?? '', /Do joinery\./)
  })

  it('keeps what it read in sight through folds and compactions', async (context) => {
    for (const options of [
      { compaction: { contextWindow: 3_000, keepFirst: 1, keepRecent: 2, maxSummaryTokens: 100 } },
      {
        compaction: false,
        braking: { fold: { work: 300, minBatch: 300, keepSteps: 2, indexTokens: 100, cap: 20_000, leastRequests: 0 } },
      },
    ] as const) {
      const { dir } = skillFolder(context, files)
      const { agent, script, types, records } = await startAgent(context, {
        skills: [dir],
        tools: [look],
        ...options,
        replies: [
          calls('r', ['read_skill', { name: 'carpentry' }]),
          ...Array.from({ length: 25 }, (_, turn) => calls(`t${turn}-`, ['look', { turn }])),
          'done',
        ],
      })
      await agent.prompt('cut this').result
      const last = JSON.stringify(script.requests.at(-1))
      assert.ok(last.includes('# The rules\\nMeasure twice'))
      assert.not.ok(last.includes('{\\"turn\\":0} long words long words'), 'something was hidden')
      assert.ok(types().some((type) => type === 'prune.applied' || type === 'compaction.end'))
      assert.equal(rebuildConversation(await records()).pins(), [2])
    }
  })

  it('goes on after a crash wherever it was reading one', { timeoutMs: 10_000 }, async (context) => {
    const { dir } = skillFolder(context, files)
    const { agent, records } = await startAgent(context, {
      skills: [dir],
      replies: [calls('a', ['read_skill', { name: 'carpentry' }]), 'done'],
    })
    await agent.prompt('cut this').result
    const log = await records()
    const from = log.findIndex(({ type }) => type === 'reply.end') + 1
    for (let at = from; at < log.length; at++) {
      const store = await cutStore('a1', log.slice(0, at))
      const runtime = await createRuntime({ store })
      context.cleanup(() => runtime.close())
      const isAnswered = log.slice(0, at).filter(({ type }) => type === 'reply.end').length > 1
      const model = scriptedModel(isAnswered ? [] : ['done'])
      const resumed = await runtime.resume('a1', defineAgent({ name: 'tester', model, skills: [dir] }))
      if (resumed.state !== 'idle') await settled(resumed)
      assert.match(
        resultsOf({ messages: resumed.conversation.trunk().map(({ message }) => message) })[0] ?? '',
        /The rules/,
      )
      assert.equal(resumed.conversation.pins(), [2], `after ${at} records`)
    }
  })

  it('works on with those that are not broken, and the log says which are', async (context) => {
    const { dir } = skillFolder(context, { ...files, 'broken/SKILL.md': '---js\nprocess.exit(3)\n---\n' })
    const { agent, records, script } = await startAgent(context, { skills: [dir], replies: ['done'] })
    await agent.prompt('go').result
    assert.match(script.requests[0]?.system ?? '', /- carpentry: /)
    const [change] = (await records()).filter((record) => record.type === 'tools.changed')
    assert.match(change?.trouble?.[0]?.message ?? '', /broken: line 1: .*"---js"/)
  })

  it('shows no secret that a skill holds', async (context) => {
    const { dir } = skillFolder(context, {
      'leaky/SKILL.md': skillText('leaky', 'description: Uses abracadabra.', 'The key is abracadabra.\n'),
    })
    const { agent, records, events, script } = await startAgent(context, {
      skills: [dir],
      redact: { secrets: { KEY: 'abracadabra' } },
      replies: [calls('a', ['read_skill', { name: 'leaky' }]), 'done'],
    })
    await agent.prompt('go').result
    assert.match(saidIn(script.requests[1]).join(), /go/)
    for (const shown of [await records(), events, script.requests.map(({ system, messages }) => [system, messages])])
      assert.not.ok(JSON.stringify(shown).includes('abracadabra'))
    assert.match(script.requests[0]?.system ?? '', /Uses \[redacted:KEY\]/)
  })

  it('is not defined with folders that are none', () => {
    const define = (skills: unknown): unknown =>
      defineAgent({ name: 'a', model: scriptedModel([]), skills: skills as string[] })
    assert.throws(() => define('skills'), withCode('INVALID_DEFINITION', 'skills'))
    assert.throws(() => define([]), withCode('INVALID_DEFINITION', 'name at least one folder'))
    assert.throws(
      () => defineAgent({ name: 'a', model: scriptedModel([]), skills: ['x'], tools: [skillTools(['y'])] }),
      withCode('INVALID_DEFINITION', 'two sources are named "skills"'),
    )
  })
})
