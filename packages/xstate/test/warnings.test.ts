import { fileURLToPath } from 'node:url'
import { startChild } from '../../cli/test/cliChild.ts'
import { assert, type CaseContext, describe } from '../../../test/support/suite.ts'

const script = fileURLToPath(new URL('quietChild.ts', import.meta.url))

const run = (context: CaseContext, ...args: readonly string[]) =>
  startChild(context, [process.execPath, '--conditions=development', script, ...args], { input: '' }).ended

describe('the development build of XState', (it) => {
  it('has nothing to warn of, however an agent and its actor end', { timeoutMs: 20_000 }, async (context) => {
    const { stdout, stderr, code } = await run(context)
    assert.equal([stdout, stderr, code], ['done\n', '', 0])
  })

  it('would warn', { timeoutMs: 20_000 }, async (context) => {
    const { stderr } = await run(context, 'loud')
    assert.match(stderr, 'was sent to stopped actor')
  })
})
