export function up(tables) {
  if (tables.users === undefined) throw new Error('no such table: users')
  tables.users.push('email')
}
