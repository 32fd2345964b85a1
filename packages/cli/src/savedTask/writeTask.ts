import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hasCode, messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import type { SavedTask, TaskRecording } from '../../../sessions/src/savedTask.ts'

const suiteModule = `import { defineSuite, recordedSuite } from 'escapement/testing'

// Each folder beside this file is a task that was saved from a session. The model "embedded" replies what was recorded. To try an agent
// of yours, and other models, give "agent" here: ({ model, tools }) => defineAgent({ … }).
export default defineSuite({ ...recordedSuite(import.meta.dirname) })
`

export interface TaskToWrite {
  /** Folder of the suite. */
  readonly folder: string
  readonly task: SavedTask
  readonly recording: TaskRecording
  /** Files of the workspace. Missing if the task has none. */
  readonly files?: ReadonlyMap<string, Buffer>
}

/**
 * Writes a task, with a module that plays it, into a suite's folder, which is created if missing. Resolves with the task's folder.
 *
 * @throws RuntimeError `INVALID_OPTION` if the task exists already or cannot be written. Nothing of it remains then.
 */
export async function writeTask({ folder, task, recording, files }: TaskToWrite): Promise<string> {
  const dir = join(folder, task.id)
  await mkdir(folder, { recursive: true }).catch((thrown: unknown) => {
    throw failed(folder, thrown)
  })
  await mkdir(dir).catch((thrown: unknown) => {
    throw failed(dir, thrown)
  })
  try {
    const { id: _, ...rest } = task
    await writeFile(join(dir, 'task.json'), `${JSON.stringify(rest, null, 2)}\n`)
    await writeFile(join(dir, 'recording.json'), `${JSON.stringify(recording, null, 2)}\n`)
    if (files !== undefined) await mkdir(join(dir, 'files'))
    for (const [path, content] of files ?? []) {
      const file = join(dir, 'files', path)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, content, { flag: 'wx' })
    }
    await writeFile(join(folder, 'suite.mjs'), suiteModule, { flag: 'wx' }).catch((thrown: unknown) => {
      if (!hasCode(thrown, 'EEXIST')) throw thrown
    })
    return dir
  } catch (thrown) {
    await rm(dir, { recursive: true, force: true })
    throw failed(dir, thrown)
  }
}

function failed(path: string, thrown: unknown): RuntimeError {
  const why = hasCode(thrown, 'EEXIST') ? 'it is there already, and is not written over' : messageOf(thrown)
  return new RuntimeError('INVALID_OPTION', `--task: ${path} cannot be written: ${why}.`, { cause: thrown })
}
