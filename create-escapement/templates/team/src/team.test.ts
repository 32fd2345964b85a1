import assert from 'node:assert/strict'
import { mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createRuntime, policyModel } from 'escapement'
import { reply } from './demoReplies.ts'
import { lead } from './team.ts'

for (const [decision, published] of [
  ['approve', 1],
  ['deny', 0],
] as const)
  test(`when publishing is met with "${decision}", ${published} articles are published`, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'team-'))
    const runtime = await createRuntime()
    const agent = await runtime.spawn(lead(policyModel(reply), folder))
    const run = agent.prompt('Publish an article about escapements.')
    for await (const event of run) if (event.type === 'approval.requested') agent.decide(event.key, decision)
    assert.equal((await run.result).stopReason, 'stop')
    await runtime.close()
    assert.equal((await readdir(folder)).length, published)
  })
