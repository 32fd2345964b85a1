import { recordVersion } from './records.ts'

type PlainRecord = { readonly [field: string]: unknown }

/** Makes a record of version n into one of version n + 1; `v` is set by the caller. Gets what was read, unchecked. */
export type UpgradeStep = (record: PlainRecord) => PlainRecord

/** The step from version n to n + 1, by n. */
export type UpgradeSteps = { readonly [from: number]: UpgradeStep }

const upgradeSteps: UpgradeSteps = {
  // A run was called a loop. The first approvals had no key: their calls were decided by `callId` alone.
  1: ({ loopId, parent, ...rest }) => ({
    ...rest,
    ...(loopId === undefined ? {} : { runId: loopId }),
    ...(parent === undefined ? {} : { parent: withRunId(parent as PlainRecord) }),
    ...(isApproval(rest) && !('key' in rest) && rest['callId'] !== undefined ? { key: rest['callId'] } : {}),
  }),
}

const withRunId = ({ loopId, ...rest }: PlainRecord): PlainRecord => ({ ...rest, runId: loopId })

const isApproval = ({ type }: PlainRecord): boolean => type === 'approval.requested' || type === 'approval.decided'

/** The format version a value claims to have; 0 for what claims none. */
export function versionOf(value: unknown): number {
  const version = typeof value === 'object' && value !== null && 'v' in value ? value.v : undefined
  return typeof version === 'number' ? version : 0
}

/**
 * Brings a record of an older format to this one, a version at a time; anything else, and what no step leads on from, is given
 * back as it is, for the schema to judge. Throws what a step throws, which may be anything when the record is damaged.
 */
export function upgradeRecord(value: unknown, steps: UpgradeSteps = upgradeSteps, to: number = recordVersion): unknown {
  let record = value
  for (let version = versionOf(record); version < to; version += 1) {
    const step = Object.hasOwn(steps, version) ? steps[version] : undefined
    if (step === undefined) return record
    record = { ...step(record as PlainRecord), v: version + 1 }
  }
  return record
}
