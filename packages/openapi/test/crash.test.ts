import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { fileStore } from '../../stores/src/fileStore.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { caller } from './crashAgent.ts'
import { json, startService } from './service.ts'

describe('a process that is killed in the middle of a call of a service', (it) => {
  for (const [method, times, answer] of [
    ['get', 2, /^\{"done":2\}$/],
    ['put', 2, /^\{"done":2\}$/],
    ['post', 1, /not known whether|unknown/i],
  ] as const)
    it(`calls it again if that does no harm: ${method}`, { timeoutMs: 60_000 }, async (context) => {
      const folder = mkdtempSync(join(tmpdir(), 'escapement-openapi-'))
      context.cleanup(() => rmSync(folder, { recursive: true, maxRetries: 5 }))
      const reached = Promise.withResolvers<void>()
      const service = await startService(context, (_, response) => {
        // The first is never answered.
        if (service.asked.length === 1) reached.resolve()
        else json(response, { done: service.asked.length })
      })
      const script = join(import.meta.dirname, 'crashChild.ts')
      const child = spawn(process.execPath, [script, folder, service.url, method], { stdio: 'inherit' })
      const ended = once(child, 'close')
      await Promise.race([reached.promise, ended])
      child.kill('SIGKILL')
      await ended
      const runtime = await createRuntime({ store: fileStore(folder) })
      context.cleanup(() => runtime.close())
      const agent = await runtime.resume('caller', await caller(service.url, method), { continue: false })
      const { text, stopReason } = await agent.resume().result
      assert.is(stopReason, 'stop')
      assert.match(text, answer)
      assert.equal(
        service.asked.map((one) => one.method),
        Array(times).fill(method.toUpperCase()),
      )
    })
})
