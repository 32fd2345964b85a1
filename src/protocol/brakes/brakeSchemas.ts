import { compactionCommands, compactionRecords } from './compaction/compactionRecords.ts'
import { graftCommands, graftRecords } from './graft/graftRecords.ts'
import { pinCommands, pinRecords } from './pins/pinRecords.ts'
import { policyCommands, policyRecords } from './policies/policyRecords.ts'
import { pruneCommands, pruneRecords } from './prune/pruneRecords.ts'
import { revertCommands, revertRecords } from './revert/revertRecords.ts'
import { stallRecords } from './stall/stallRecords.ts'

export const brakeRecords = {
  ...revertRecords,
  ...pruneRecords,
  ...compactionRecords,
  ...pinRecords,
  ...graftRecords,
  ...stallRecords,
  ...policyRecords,
} as const

export const brakeCommands = {
  ...revertCommands,
  ...pruneCommands,
  ...policyCommands,
  ...compactionCommands,
  ...graftCommands,
  ...pinCommands,
} as const
