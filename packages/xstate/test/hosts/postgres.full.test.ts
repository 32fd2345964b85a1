import { describeWithPostgres } from '../../../postgres/test/postgres.ts'
import { keepsMachines } from './onStores.ts'

describeWithPostgres('a hosted machine in PostgreSQL', (it) => {
  it('is kept, woken and held by one', { timeoutMs: 60_000 }, async (context) => {
    await keepsMachines(context, () => context.store())
  })
})
