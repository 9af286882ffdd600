// region: rights
/** ACL SETUSER jobs >PASSWORD ...: all that a producer, a worker and an operator send, by themselves or in a script. */
export const RIGHTS: readonly string[] = [
  'on ~surety:*',
  // Over the connection.
  '+evalsha +eval +blpop +lpush +sadd +smembers +exists +hexists',
  // In scripts.
  '+time +hget +hmget +hset +hsetnx +hdel +hincrby +hlen',
  '+zadd +zcard +zcount +zrange +zrem +zremrangebyrank +zscore',
  // To connect, and to see what the server promises. On a cluster also: +cluster|slots +cluster|info.
  '+auth +hello +select +client|setname +ping +info +config|get',
  // For the option `confirm`; with `fsync` also +waitaof, which is known from 7.2 on.
  '+wait',
].flatMap((line) => line.split(' '));
// endregion
