import { join } from 'node:path'
import { createRuntime, defineAgent, fileStore, policyModel } from '../../../src/index.ts'
import type { StoreSpend } from '../../../src/sessions.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { readSince } from '../src/sessions/readSince.ts'
import { projectFolder } from './cliChild.ts'
import { runCli, startCli } from './cliInProcess.ts'

const pricing = { input: 1_000, output: 1_000 }

/** Two agents with a price, of two users, and one without. */
async function spent(context: CaseContext): Promise<string> {
  const cwd = projectFolder(context)
  const runtime = await createRuntime({ store: fileStore(join(cwd, '.escapement')) })
  const model = policyModel(() => 'Good day.')
  const paid = defineAgent({ name: 'paid', pricing, model })
  for (const [id, user] of [
    ['a', 'anna'],
    ['b', 'ben'],
  ] as const)
    await (await runtime.spawn(paid, { id, metadata: { user } })).prompt('Hello').result
  await (await runtime.spawn(defineAgent({ name: 'other', model }), { id: 'c' })).prompt('Hello').result
  await runtime.close()
  return cwd
}

const atTerminal = async (context: CaseContext, cwd: string, args: readonly string[]) => {
  const run = startCli(context, ['spend', ...args, '--dir', cwd], { isTerminal: true })
  const code = await run.ended
  return { code, stdout: run.stdout, stderr: run.stderr }
}

describe('escapement spend', (it) => {
  it('sums by what is asked for, and tells what has no price', async (context) => {
    const cwd = await spent(context)
    const by = async (...args: string[]) => {
      const { stdout } = await runCli(context, ['spend', ...args, '--dir', cwd])
      const spend = JSON.parse(stdout) as StoreSpend
      return { spend, keys: spend.groups.map(({ key }) => key) }
    }
    assert.equal((await by('user')).keys, ['anna', 'ben', null])
    assert.equal((await by('definition')).keys, ['paid', 'other'])
    assert.equal((await by('--metadata', 'user=ben')).keys, ['b'])
    assert.equal((await by('--since', '2999-01-01')).keys, [])
    const { spend } = await by('--limit', '1')
    assert.equal([spend.groups.length, spend.unpriced.requests], [1, 1])
    const { stdout, stderr, code } = await atTerminal(context, cwd, ['user'])
    assert.is(code, 0)
    assert.match(stdout, /^user +cost +share +requests +tokens +agents\n/)
    assert.match(stdout, /anna +\$\S+ +50 % +1 /)
    assert.match(stdout, /– +no price /)
    assert.match(stderr, /Without a known price, and in no amount: 1 request, /)
  })

  it('says what brakes saved in all of the time', async (context) => {
    const cwd = projectFolder(context)
    const runtime = await createRuntime({ store: fileStore(join(cwd, '.escapement')) })
    const model = policyModel(() => 'Good day. '.repeat(2_000))
    const definition = defineAgent({ name: 'paid', pricing, model, braking: { revert: true } })
    const agent = await runtime.spawn(definition, { id: 'a' })
    await agent.prompt('Hello').result
    agent.revert('n1', { category: 'failure', summary: 'too long' })
    await agent.prompt('Again').result
    await runtime.close()
    const { stdout } = await atTerminal(context, cwd, [])
    assert.match(stdout, /\nsaved by brakes: \$\d\S* and [\d,]+ tokens in 1 agent\n/)
    assert.not.match((await atTerminal(context, cwd, ['--since', '1d'])).stdout, 'saved')
    assert.not.match((await atTerminal(context, await spent(context), [])).stdout, 'saved')
  })

  it('says which key nobody has, and what it may have meant', async (context) => {
    const cwd = await spent(context)
    const { stderr, code } = await atTerminal(context, cwd, ['modle'])
    assert.is(code, 2)
    assert.match(stderr, /No agent in \S+ has "modle" in its metadata\. Did you mean "model"\?/)
    const since = await atTerminal(context, cwd, ['--since', 'yesterday'])
    assert.match(since.stderr, /--since "yesterday": give a time before now/)
  })

  it('reads times before now, and days', () => {
    const now = Date.UTC(2026, 4, 10, 12)
    assert.is(readSince('90min', now), now - 5_400_000)
    assert.is(readSince('2w', now), now - 14 * 86_400_000)
    assert.is(readSince('999999d', now), 0)
    assert.is(readSince('2026-05-01T00:00:00Z', now), Date.UTC(2026, 4, 1))
    for (const wrong of ['', '7', '7 d', 'soon', '-1d', '2026-99-99'])
      assert.throws(() => readSince(wrong, now), /--since/)
  })
})
