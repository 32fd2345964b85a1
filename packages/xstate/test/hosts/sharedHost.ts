import { join } from 'node:path'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { sqliteStore } from '../../../sqlite/src/sqliteStore.ts'
import { fileStore } from '../../../stores/src/fileStore.ts'

export const sharedKinds = ['a folder', 'a SQLite file'] as const
export type SharedKind = (typeof sharedKinds)[number]

/** Opens what two processes share. */
export const openShared = (kind: SharedKind, dir: string): Store =>
  kind === 'a folder' ? fileStore(dir) : sqliteStore(join(dir, 'hosts.db'))

export const talker = defineAgent({ name: 'talker', model: policyModel(() => 'well') })
