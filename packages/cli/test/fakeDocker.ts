import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { CaseContext } from '../../../test/support/suite.ts'

const script = fileURLToPath(new URL('fakeDocker.sh', import.meta.url))

/** Until the case ends, a program called docker that notes what it is asked, and runs commands in the mounted folder. */
export function fakeDocker({ cleanup }: Pick<CaseContext, 'cleanup'>, folder: string): { asked(): string[] } {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'docker'), readFileSync(script))
  chmodSync(join(bin, 'docker'), 0o755)
  const path = process.env['PATH']
  process.env['PATH'] = `${bin}:${path}`
  cleanup(() => (process.env['PATH'] = path))
  const asked = join(bin, 'asked')
  return { asked: () => (existsSync(asked) ? readFileSync(asked, 'utf8').trim().split('\n') : []) }
}

/** Until the case ends, no engine of Docker is reached. */
export function withoutEngine({ cleanup }: Pick<CaseContext, 'cleanup'>): void {
  const host = process.env['DOCKER_HOST']
  process.env['DOCKER_HOST'] = 'tcp://nowhere'
  cleanup(() => {
    if (host === undefined) delete process.env['DOCKER_HOST']
    else process.env['DOCKER_HOST'] = host
  })
}
