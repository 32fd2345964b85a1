import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import type { Model } from '../../../../src/protocol/ports/model.ts'
import type { RedactOptions } from '../../../redaction/src/redactor.ts'
import { readResults } from '../folder/resultsFile.ts'
import type { PlannedTrial } from '../plan.ts'
import { recordModel, type RecordingModel } from '../testing/recordModel.ts'
import { replayModel, type ReplayModel } from '../testing/replayModel.ts'

/** Returns the folder of an evaluation's recordings. */
export const recordingsPath = (folder: string): string => join(folder, 'recordings')

/** A tap between the agents of trials and their models. */
export interface ModelTap {
  /** Returns the model that answers in place of another, in the tree of the agent `root`. */
  instead(model: Model, root: string): Model
  /** Called before a trial. `root`: id of its agent. */
  begin(root: string): Promise<void>
  /** Called after the trial; resolves with its additions to the result. */
  end(root: string): Promise<{ readonly differences?: number }>
}

/** Returns the file name of a recording, by the agent of the trial or of its judge and the number of its model. */
const fileOf = (root: string, number: number): string =>
  number === 1 ? `${root}.jsonl` : `${root}.${number}.model.jsonl`

/** Returns true if a file holds requests of a trial or of its judge. */
const isOf = (name: string, root: string): boolean =>
  name === `${root}.jsonl` ||
  (name.startsWith(`${root}.`) && /^\.(\d+\.model|judge\.\d+(\.\d+\.model)?)\.jsonl$/.test(name.slice(root.length)))

/** Records the replies of every model in a trial, without the secrets of `redact`: a file for each model that was asked. */
export function recordingTap(folder: string, redact?: RedactOptions): ModelTap {
  const dir = recordingsPath(folder)
  const open = new Map<string, Map<string, RecordingModel>>()
  return {
    instead(model, root) {
      const models = open.get(root) ?? new Map<string, RecordingModel>()
      open.set(root, models)
      const known = models.get(model.id)
      if (known !== undefined) return known
      const made = recordModel(model, join(dir, fileOf(root, models.size + 1)), redact && { redact })
      models.set(model.id, made)
      return made
    },
    async begin(root) {
      await mkdir(dir, { recursive: true })
      for (const name of await readdir(dir)) if (isOf(name, root)) await rm(join(dir, name))
    },
    async end(root) {
      for (const [other, models] of open) {
        if (other !== root && !other.startsWith(`${root}.judge.`)) continue
        open.delete(other)
        for (const model of models.values()) await model.flush()
      }
      return {}
    },
  }
}

/** Plays the recordings in the folder of another evaluation; no model is asked. */
export function replayingTap(folder: string, clock: Clock): ModelTap {
  const dir = recordingsPath(folder)
  const open = new Map<string, Promise<ReadonlyMap<string, ReplayModel>>>()
  const recorded = (root: string): Promise<ReadonlyMap<string, ReplayModel>> => {
    const known = open.get(root) ?? readAll(dir, root, clock)
    open.set(root, known)
    return known
  }
  return {
    instead: (model, root) => ({
      id: model.id,
      async *stream(request, options) {
        const models = await recorded(root).catch((thrown: unknown) => messageOf(thrown))
        const played = typeof models === 'string' ? undefined : models.get(model.id)
        if (played !== undefined) return yield* played.stream(request, options)
        const what = typeof models === 'string' ? models : `there is no recording of ${model.id} for ${root} in ${dir}`
        return yield { type: 'error', error: { kind: 'badRequest', message: what } }
      },
    }),
    begin: () => Promise.resolve(),
    async end(root) {
      let differences = 0
      for (const [other, reading] of open) {
        if (other !== root && !other.startsWith(`${root}.judge.`)) continue
        open.delete(other)
        const models = await reading.catch(() => new Map<string, ReplayModel>())
        for (const model of models.values()) differences += model.differences
      }
      return differences === 0 ? {} : { differences }
    },
  }
}

async function readAll(dir: string, root: string, clock: Clock): Promise<ReadonlyMap<string, ReplayModel>> {
  const models = new Map<string, ReplayModel>()
  for (let number = 1; ; number++) {
    const file = join(dir, fileOf(root, number))
    try {
      const model = await replayModel(file, { mode: 'inOrder', clock })
      models.set(model.id, model)
    } catch (thrown) {
      if (number > 1 && thrown instanceof RuntimeError && thrown.code === 'STORE_READ_FAILED') return models
      throw thrown
    }
  }
}

/** Returns a model that is never called, because its recording answers instead. */
export const recordedModel = (id: string): Model => ({
  id,
  // oxlint-disable-next-line require-yield -- it has nothing to say
  async *stream() {
    throw new Error(`${id} is played from a recording, and cannot be asked`)
  },
})

/**
 * Checks that a folder has recordings of trials; those that ended as an error there may have none.
 *
 * @throws RuntimeError `INVALID_OPTION` naming a missing one
 */
export async function checkRecordings(folder: string, planned: readonly PlannedTrial[]): Promise<void> {
  const names = new Set(await readdir(recordingsPath(folder)).catch((): string[] => []))
  const { trials } = await readResults(folder)
  const needed = planned.filter(({ key }) => trials.get(key)?.outcome !== 'error')
  const missing = needed.filter(({ agentId }) => !names.has(fileOf(agentId, 1)))
  if (missing.length === 0) return
  const what =
    names.size === 0
      ? 'holds no recordings: they are made with --record'
      : `has no recording of ${missing.length} of ${planned.length} trials, such as ${missing[0]!.key}`
  throw new RuntimeError('INVALID_OPTION', `${folder} ${what}.`)
}
