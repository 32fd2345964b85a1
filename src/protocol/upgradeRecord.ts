import { describeIssues, messageOf, RuntimeError } from './errors.ts'
import { type LogRecord, logRecords, recordVersion } from './records.ts'

type PlainRecord = { readonly [field: string]: unknown }

/** Converts a record from version n to n + 1. It receives the unchecked record. The caller sets `v`. */
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
  // Only kinds and fields were added.
  2: (record) => record,
}

const withRunId = ({ loopId, ...rest }: PlainRecord): PlainRecord => ({ ...rest, runId: loopId })

const isApproval = ({ type }: PlainRecord): boolean => type === 'approval.requested' || type === 'approval.decided'

/** Returns the format version a value claims to have; 0 if it claims none. */
export function versionOf(value: unknown): number {
  const version = typeof value === 'object' && value !== null && 'v' in value ? value.v : undefined
  return typeof version === 'number' ? version : 0
}

/**
 * Upgrades a record of an older format to this one, a version at a time. Any other value, or one without an upgrade step, is returned unchanged for
 * the schema to judge. Rethrows any error of a step, which may occur for a damaged record.
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

/** Result of reading a value from a log: a record of this version with the upgraded value, or the reason why it is not a record. */
export type ReadValue =
  | { readonly record: LogRecord; readonly upgraded: object }
  | { readonly code: 'LOG_VERSION' | 'LOG_CORRUPT'; readonly why: string }

/** Upgrades a value from a log to this version and checks it. */
export function readValue(value: unknown): ReadValue {
  const version = versionOf(value)
  if (version > recordVersion)
    return { code: 'LOG_VERSION', why: `has format version ${version}; this is version ${recordVersion}.` }
  let upgraded: unknown
  try {
    upgraded = upgradeRecord(value)
  } catch (thrown) {
    return { code: 'LOG_CORRUPT', why: `it is of version ${version} and could not be upgraded: ${messageOf(thrown)}` }
  }
  const { success, data, error } = logRecords.safeParse(upgraded)
  return success
    ? { record: data as LogRecord, upgraded: upgraded as object }
    : { code: 'LOG_CORRUPT', why: describeIssues(error) }
}

/**
 * Converts a record of any log version to this version. Use it in your own store, and in code that reads log files directly.
 * @throws RuntimeError `LOG_VERSION` for a record of a newer version, `LOG_CORRUPT` for a value that is not a record
 */
export function parseRecord(value: unknown): LogRecord {
  const read = readValue(value)
  if ('record' in read) return read.record
  const { code, why } = read
  throw new RuntimeError(code, code === 'LOG_VERSION' ? `A record ${why}` : `This is not a record: ${why}.`)
}

/**
 * Checks the version of a record, which differs if a store returns records without `parseRecord`.
 * @throws RuntimeError `LOG_VERSION`
 */
export function checkVersion(agentId: string, { v, seq }: LogRecord): void {
  if ((v as number) === recordVersion) return
  const what = `Record ${seq} of agent "${agentId}" has format version ${v}, and this is version ${recordVersion}.`
  throw new RuntimeError('LOG_VERSION', `${what} A store passes what it reads through parseRecord.`)
}
