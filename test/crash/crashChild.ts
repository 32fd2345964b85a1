/**
 * One life of the crash matrix: `node crashChild.ts <folder> [<mode> <record>]` goes on with the job of that folder from
 * wherever the life before it ended, and ends with the job, unless it is killed at that record. Prints `ready`, and at the end how
 * the last run ended.
 */
import { fileStore } from '../../packages/stores/src/fileStore.ts'
import { jobFiles } from './crashJob.ts'
import { killingStore, type KillMode } from './killingStore.ts'
import { liveJob } from './liveJob.ts'

const [folder = '', mode, at] = process.argv.slice(2)
const files = jobFiles(folder)
const store = fileStore(files.store)
process.stdout.write('ready\n')
const end = await liveJob(
  mode === undefined ? store : killingStore(store, files.store, { mode: mode as KillMode, at: Number(at) }),
  files,
)
process.stdout.write(`${JSON.stringify({ stopReason: end?.stopReason, reason: end?.reason, error: end?.error })}\n`)
