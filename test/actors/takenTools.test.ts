import * as fc from 'fast-check'
import { changeOf } from '../../src/actors/define/changedTools.ts'
import { defineAgent } from '../../packages/define/src/defineAgent.ts'
import { markdownMemory } from '../../src/memory.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { afterChange, nothingTaken, takenAfter, type TakenTools } from '../../src/conversation/tree/takenTools.ts'
import type { Listing } from '../../src/actors/tools/openSource.ts'
import { namesFor, toolName } from '../../src/actors/tools/toolName.ts'
import { recordVersion, type LogRecord } from '../../src/protocol/records.ts'
import type { OfferedToolSpec } from '../../src/protocol/toolsChange.ts'
import { tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const offer = (source: string, name: string, description: string): OfferedToolSpec => ({
  name,
  description,
  inputSchema: { type: 'object' },
  effects: 'none',
  approval: 'never',
  source,
})

/** State of a source: its tools by name, with their descriptions. */
type Said = { readonly [name: string]: string } | 'down'

const listingOf = (source: string, said: Said, instructions = ''): Listing => ({
  tools: new Map(
    Object.entries(said === 'down' ? {} : said).map(([name, description]) => {
      const offered = offer(source, name, description)
      return [name, { tool: tool(name, () => ''), offer: offered, same: JSON.stringify(offered) }]
    }),
  ),
  instructions,
  trouble: said === 'down' ? 'it is down' : undefined,
  state: said === 'down' ? 'waiting' : 'up',
  isUp: said !== 'down',
})

const listings = (said: { readonly [source: string]: Said }): Map<string, Listing> =>
  new Map(Object.entries(said).map(([source, each]) => [source, listingOf(source, each)]))

const none: ReadonlySet<string> = new Set()

const namesIn = ({ tools }: TakenTools): string[] => [...tools.keys()]

describe('what is taken of sources', (it) => {
  it('is nothing new when they have what was taken, in any order', () => {
    const first = changeOf(nothingTaken, none, listings({ s: { a: '1', b: '1' } }))!
    const taken = afterChange(nothingTaken, first)
    assert.is(changeOf(taken, none, listings({ s: { b: '1', a: '1' } })), undefined)
    assert.is(changeOf(taken, none, listings({ s: 'down' })), undefined)
    assert.is(changeOf(nothingTaken, none, listings({ s: 'down' })), undefined)
  })

  it('goes with its source, and with what the system prompt said of it', () => {
    const both = new Map([
      ['s', listingOf('s', { a: '1' }, 'Say a.')],
      ['t', listingOf('t', { b: '1' }, 'Say b.')],
    ])
    const taken = afterChange(nothingTaken, changeOf(nothingTaken, none, both)!)
    assert.equal([...taken.instructions.values()], ['Say a.', 'Say b.'])
    const change = changeOf(taken, none, new Map([...both].slice(1)))!
    assert.equal(change, { added: [], removed: ['a'], instructions: [{ source: 's', text: '' }] })
    assert.equal([...afterChange(taken, change).instructions], [['t', 'Say b.']])
  })

  it('is offered under another name as soon as its own is taken by the definition', () => {
    const taken = afterChange(nothingTaken, changeOf(nothingTaken, none, listings({ s: { a: '1' } }))!)
    const change = changeOf(taken, new Set(['a', 's_a']), listings({ s: { a: '1' } }))!
    assert.equal(change.removed, ['a'])
    assert.equal(
      change.added.map(({ name, ownName }) => [name, ownName]),
      [['s_a_2', 'a']],
    )
  })

  it('never has the name of a tool of the runtime', () => {
    const model = scriptedModel([])
    const other = defineAgent({ name: 'x', model })
    const { toolSpecs } = defineAgent({
      name: 'all',
      model,
      agents: [{ definition: other, detach: 'report' }],
      handoffs: [other],
      braking: { revert: true, graft: true, prune: true, recall: true },
      memory: markdownMemory('memories'),
      artifacts: true,
    })
    const own = toolSpecs.map(({ name }) => name).filter((name) => name !== 'x')
    assert.is(own.length, 9)
    const change = changeOf(nothingTaken, none, listings({ s: Object.fromEntries(own.map((name) => [name, '1'])) }))!
    assert.equal(
      change.added.map(({ name }) => name),
      own.map((name) => `s_${name}`),
    )
  })

  it('is left behind by a sub-agent that knows the conversation, and kept by a fork of the session', () => {
    const taken = afterChange(nothingTaken, changeOf(nothingTaken, none, listings({ s: { a: '1' } }))!)
    const created = { v: recordVersion, seq: 1, time: 0, type: 'agent.created', agentId: 'a', path: [] } as const
    const parent = { agentId: 'p', runId: 'p/r0', turnIndex: 0 }
    assert.is(takenAfter(taken, { ...created, parent } as unknown as LogRecord), nothingTaken)
    assert.is(takenAfter(taken, created as unknown as LogRecord), taken)
  })

  it('follows from the changes: every name once, what stays in its place, what is new last', () => {
    const word = fc.constantFrom('a', 'b', 'c', 's_a', 't_b', 'own', 'recall')
    const said = fc.oneof(
      { weight: 1, arbitrary: fc.constant('down' as const) },
      { weight: 4, arbitrary: fc.dictionary(word, fc.constantFrom('1', '2'), { maxKeys: 5 }) },
    )
    const fixed = new Set(['own'])
    fc.assert(
      fc.property(fc.array(fc.record({ s: said, t: said }), { minLength: 1, maxLength: 8 }), (script) => {
        let taken = nothingTaken
        for (const now of script) {
          const change = changeOf(taken, fixed, listings(now))
          if (change === undefined) continue
          const next = afterChange(taken, change)
          const stayed = namesIn(taken).filter((name) => !change.removed.includes(name))
          assert.equal(namesIn(next).slice(0, stayed.length), stayed)
          for (const { name } of next.tools.values()) assert.not.ok(fixed.has(name) || name === 'recall')
          taken = next
          // Again, it is what is taken.
          assert.is(changeOf(taken, fixed, listings(now)), undefined)
          for (const [source, each] of Object.entries(now)) {
            const own = [...taken.tools.values()].filter((one) => one.source === source)
            if (each === 'down') continue
            assert.equal(
              Object.fromEntries(own.map(({ name, ownName, description }) => [ownName ?? name, description])),
              { ...each },
            )
          }
        }
      }),
      { seed: 37, numRuns: 300 },
    )
  })
})

describe('the name of a tool from elsewhere', (it) => {
  it('is one that every provider takes, and stays apart from others when it is cut', () => {
    assert.is(toolName('a.b/c d'), 'a_b_c_d')
    assert.is(toolName(''), 'tool')
    const long = 'x'.repeat(100)
    assert.not.equal(toolName(`${long}1`), toolName(`${long}2`))
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (name) => {
        assert.match(toolName(name), /^[A-Za-z0-9_-]{1,64}$/)
        assert.is(toolName(toolName(name)), toolName(name))
      }),
      { seed: 1, numRuns: 200 },
    )
  })

  it('is its own, else with that of its source, else numbered', () => {
    const found = namesFor('srv', 'look')
    assert.equal(
      [found.next().value, found.next().value, found.next().value, found.next().value],
      ['look', 'srv_look', 'srv_look_2', 'srv_look_3'],
    )
    const cut = namesFor('s'.repeat(40), 'l'.repeat(40))
    cut.next()
    assert.is(cut.next().value.length, 64)
  })
})
