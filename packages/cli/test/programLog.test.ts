import { programLog, spokenLine } from '../src/programLog.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { simulatedClock } from '../../evaluation/src/testing/simulatedClock.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const env = {
  ESCAPEMENT_GATEWAY_SECRET: 'of "gateways"\\and workers',
  ESCAPEMENT_LOGS: 'postgres://agents:p%40ss%2Fw%3Ard@database/agents',
  PGPASSWORD: 'another-one',
  MAX_TOKENS: '100000',
  PATH: '/usr/bin',
}

function started(isJson: boolean) {
  const lines: string[] = []
  const clock = simulatedClock()
  const stderr = { write: (text: string) => lines.push(text) } as unknown as NodeJS.Process['stderr']
  return { lines, clock, log: programLog({ stderr, env }, { isJson, clock }) }
}

describe('what a program says of itself', (it) => {
  it('is a line for each thing, in JSON or in words', () => {
    const json = started(true)
    json.log.info({ url: 'http://w:9080' }, 'The worker listens.')
    json.log.error({ agentId: 'a1', error: new RuntimeError('STORE_LEASE_LOST', 'Gone.') }, 'It was lost.')
    assert.ok(json.lines.every((line) => line.endsWith('\n') && line.indexOf('\n') === line.length - 1))
    assert.equal(
      json.lines.map((line) => JSON.parse(line) as unknown),
      [
        { time: '2023-11-14T22:13:20.000Z', level: 'info', message: 'The worker listens.', url: 'http://w:9080' },
        {
          time: '2023-11-14T22:13:20.000Z',
          level: 'error',
          message: 'It was lost.',
          agentId: 'a1',
          code: 'STORE_LEASE_LOST',
          error:
            'Gone. Send commands to the process that has its log open now; records that were not yet written here are lost.',
        },
      ],
    )
    const words = started(false)
    words.log.warn({ agentId: 'a1', seq: 7, why: 'one\ntwo\u001b[31m' }, 'It was lost.')
    assert.equal(words.lines, ['2023-11-14T22:13:20.000Z warn It was lost. (agentId: a1, why: one two)\n'])
    assert.equal(spokenLine(json.lines[0]!), {
      level: 'info',
      words: '2023-11-14T22:13:20.000Z info The worker listens. (url: http://w:9080)',
    })
    for (const other of ['hello', 'null', '7', '{"level":"info"}']) assert.is(spokenLine(other), undefined)
  })

  it('has no secret of the environment, nor a key', () => {
    for (const isJson of [true, false]) {
      const { log, lines } = started(isJson)
      const key = 'sk-proj-abcdefghijklmnop1234'
      const said = `${env.ESCAPEMENT_GATEWAY_SECRET} p@ss/w:rd p%40ss%2Fw%3Ard another-one ${key} 100000`
      log.warn({ error: new Error(said), about: { deep: said } }, said)
      for (const secret of ['gateways', 'p@ss', 'p%40ss', 'another-one', key]) assert.not.match(lines[0]!, secret)
      assert.match(lines[0]!, '100000')
    }
  })

  it('is of its parts only what is wrong, and of many that fail alike a few and how many more', async () => {
    const { log, lines, clock } = started(true)
    log.ofParts.debug({}, 'nothing')
    log.ofParts.info({}, 'nothing')
    for (let agent = 0; agent < 1_000; agent++) log.ofParts.error({ agentId: `a${agent}` }, 'run paused')
    log.ofParts.warn({}, 'something else')
    const told = (): unknown[] => lines.splice(0).map((line) => (JSON.parse(line) as { message: string }).message)
    assert.equal(told(), [...Array<string>(5).fill('run paused'), 'something else'])
    await clock.advance(60_000)
    assert.match(lines[0]!, '"message":"run paused (more of the same)","count":995')
    assert.is(lines.splice(0).length, 1)
    for (let agent = 0; agent < 7; agent++) log.ofParts.warn({}, 'run paused')
    log.close()
    assert.is(told().length, 6)
    await clock.advance(60_000)
    assert.is(lines.length, 0)
  })
})
