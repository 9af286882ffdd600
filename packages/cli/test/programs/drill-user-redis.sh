# region: rights
# All that a drill needs, under a prefix of its own. The keys of your jobs are none of its business.
redis-cli ACL SETUSER surety_drill on '>choose-one' '~drills:*'
redis-cli ACL SETUSER surety_drill +evalsha +eval +blpop +lpush +sadd +smembers +srem +exists +hexists +scan +unlink
redis-cli ACL SETUSER surety_drill +time +hget +hmget +hset +hsetnx +hdel +hincrby +hlen
redis-cli ACL SETUSER surety_drill +zadd +zcard +zcount +zrange +zrem +zremrangebyrank +zscore
redis-cli ACL SETUSER surety_drill '+auth' '+hello' '+select' '+client|setname' '+ping' '+info' '+config|get' '+wait'
# endregion
