import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { workspaceContract } from '../../../../evaluation/src/testing/workspaceContract.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'
import { localWorkspace } from '../../../src/workspace/localWorkspace.ts'

const limits = { timeoutMs: 20_000 }

describe('the contract of workspaces: a folder of this machine', (it) => {
  for (const { name, run } of workspaceContract({ create: () => localWorkspace(made()) }))
    it(name, limits, async () => {
      await run()
      remove()
    })

  it('keeps the old file when the disk is full', limits, async () => {
    const dir = made()
    writeFileSync(join(dir, 'probe'), '')
    const probe = await open(join(dir, 'probe'))
    const handles = Object.getPrototypeOf(probe) as { writeFile: unknown }
    await probe.close()
    rmSync(join(dir, 'probe'))
    const own = handles.writeFile
    handles.writeFile = () => Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }))
    try {
      const full = workspaceContract({
        create: () => localWorkspace(dir),
        createFull: () => {
          writeFileSync(join(dir, 'old.txt'), 'old')
          return localWorkspace(dir)
        },
      }).at(-1)
      assert.match(full!.name, /no room/)
      await full!.run()
    } finally {
      handles.writeFile = own
    }
    remove()
  })
})

let folders: string[] = []
function made(): string {
  const dir = mkdtempSync(join(tmpdir(), 'escapement-local-'))
  folders.push(dir)
  return dir
}
function remove(): void {
  for (const dir of folders) rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
  folders = []
}
